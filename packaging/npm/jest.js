"use strict";

// import "mcp-keel/jest": expect(server).toMatchContract(), and checkContract(server)
const contract = require("./contract.js");

const expect = globalThis.expect ?? require("@jest/globals").expect;
expect.extend({ toMatchContract: contract.toMatchContract });

exports.checkContract = function checkContract(server, name) {
  return contract.checkContract(server, name, expect.getState().testPath);
};
