export {};

interface ContractMatchers {
  /** Fails if what the server lists is not what the committed baseline approves. Await it. */
  toMatchContract(name?: string): Promise<void>;
}

declare global {
  // eslint-disable-next-line @typescript-eslint/no-namespace
  namespace jest {
    // eslint-disable-next-line @typescript-eslint/no-unused-vars
    interface Matchers<R, T = {}> extends ContractMatchers {}
  }
}

declare module "expect" {
  // eslint-disable-next-line @typescript-eslint/no-unused-vars
  interface Matchers<R, T = unknown> extends ContractMatchers {}
}

/** Throws if what the server lists is not what the committed baseline approves: a server of the SDK, a client, or a list of tools. */
export declare function checkContract(server: object, name?: string): Promise<void>;
