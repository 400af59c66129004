// A provider that says what the test case tells it to, and fails where that is nothing.
module.exports = class Provider {
  id() {
    return "say";
  }

  async callApi(prompt, context) {
    return context.vars.verdict === "N" ? { error: "no verdict" } : { output: context.vars.verdict };
  }
};
