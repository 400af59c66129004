"""Loaded once by the process that workers are forked from: all of them then start with every module in memory."""

from truecount.app.worker import FIRST, perform

perform("answer", FIRST)
