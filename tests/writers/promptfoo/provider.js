// A provider that says what the test case tells it to, and fails where that is nothing.
module.exports = class Provider {
  id() {
    return "say";
  }

  async callApi(prompt, context) {
    if (context.vars.verdict === "N") {
      throw new Error("no verdict");
    }
    return { output: context.vars.verdict };
  }
};
