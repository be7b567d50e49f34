import "vitest";

interface ContractMatchers {
  /** Fails if what the server lists is not what the committed baseline approves. Await it. */
  toMatchContract(name?: string): Promise<void>;
}

declare module "vitest" {
  // eslint-disable-next-line @typescript-eslint/no-explicit-any, @typescript-eslint/no-unused-vars
  interface Assertion<T = any> extends ContractMatchers {}
  // eslint-disable-next-line @typescript-eslint/no-explicit-any, @typescript-eslint/no-unused-vars
  interface Matchers<T = any> extends ContractMatchers {}
}

/** Throws if what the server lists is not what the committed baseline approves: a server of the SDK, a client, or a list of tools. */
export declare function checkContract(server: object, name?: string): Promise<void>;
