"use strict";

// Where the binary is: in the package for this platform, an optional dependency.

const platform = `${process.platform}-${process.arch}`;
const carrier = `@mcp-keel/${platform}`;

/** The path of the program. */
function locate() {
  if (process.env.MCP_KEEL_BINARY) return process.env.MCP_KEEL_BINARY;
  try {
    return require.resolve(`${carrier}/bin/mcp-keel${process.platform === "win32" ? ".exe" : ""}`);
  } catch {
    const known = Object.keys(require("../package.json").optionalDependencies);
    const lines = known.includes(carrier)
      ? [
          `the package ${carrier} is missing.`,
          "  It is an optional dependency of mcp-keel. Install again without --omit=optional or --no-optional.",
          "  If the lock file or node_modules come from another operating system, delete both and install again.",
        ]
      : [
          `there is no binary for ${platform}.`,
          `  Binaries exist for ${known.map((name) => name.split("/")[1]).join(", ")}.`,
          "  On other platforms, build it with Rust: cargo install --locked mcp-keel",
        ];
    throw new Error(lines.join("\n"));
  }
}

exports.locate = locate;
