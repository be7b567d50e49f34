#!/usr/bin/env node
"use strict";

// Finds the binary in the package for this platform and becomes it. Nothing runs at installation, so the package works
// with --ignore-scripts, and a package manager downloads one binary: the one whose `os` and `cpu` fit.

const fs = require("node:fs");
const { locate } = require("../lib/binary.js");

function fail(...lines) {
  fs.writeSync(2, `mcp-keel: ${lines.join("\n")}\n`);
  // The exit code for a wrong setup. 1 would mean drift.
  process.exit(2);
}

function runAsChild(program, args) {
  const child = require("node:child_process").spawn(program, args, { stdio: "inherit" });
  child.on("error", (error) => fail(`cannot start ${program}: ${error.message}`));

  // A terminal sends Ctrl-C to every process in the foreground, so the child already has it.
  const { isatty } = require("node:tty");
  const hasTerminal = [0, 1, 2].some((descriptor) => isatty(descriptor));
  const fromTerminal = ["SIGINT", "SIGQUIT"];
  for (const signal of [...fromTerminal, "SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2"]) {
    try {
      process.on(signal, () => {
        if (!(hasTerminal && fromTerminal.includes(signal))) child.kill(signal);
      });
    } catch {
      // Windows does not have all of them.
    }
  }

  child.on("exit", (code, signal) => {
    if (signal === null) {
      process.exit(code);
    }
    // Die of the same signal, so that the caller sees what it would see without the launcher.
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}

let program;
try {
  program = locate();
} catch (error) {
  fail(error.message);
}
const args = process.argv.slice(2);
if (typeof process.execve === "function") {
  // From Node 22.15 on, except on Windows: no launcher is left that could lose a signal or an exit code.
  try {
    fs.accessSync(program, fs.constants.X_OK);
  } catch (error) {
    fail(`cannot start ${program}: ${error.message}`);
  }
  process.execve(program, [program, ...args], process.env);
} else {
  runAsChild(program, args);
}
