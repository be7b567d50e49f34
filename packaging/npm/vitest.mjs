// import "mcp-keel/vitest": expect(server).toMatchContract(), and checkContract(server)
import { expect } from "vitest";
import contract from "./contract.js";

expect.extend({ toMatchContract: contract.toMatchContract });

export function checkContract(server, name) {
  return contract.checkContract(server, name, expect.getState().testPath);
}
