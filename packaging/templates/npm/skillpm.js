#!/usr/bin/env node
// Runs the program from the package for this platform, which npm installed as an optional dependency.
"use strict";

const { spawn } = require("node:child_process");
const os = require("node:os");

// The packages for each platform, best first. Written from packaging/targets.tsv.
const PACKAGES = @PACKAGES@;

function usesGlibc() {
  // The report asks the network for names unless it is told not to.
  if (process.report) process.report.excludeNetwork = true;
  return Boolean(process.report?.getReport().header.glibcVersionRuntime);
}

function candidates() {
  const names = PACKAGES[`${process.platform}-${process.arch}`] ?? [];
  // A program for musl is static and runs on every Linux, but not the other way round.
  return process.platform === "linux" && !usesGlibc() ? names.filter((name) => name.endsWith("-musl")) : names;
}

function findProgram() {
  const names = candidates();
  const file = process.platform === "win32" ? "bin/skillpm.exe" : "bin/skillpm";
  for (const name of names) {
    try {
      return require.resolve(`${name}/${file}`);
    } catch (error) {
      if (error.code !== "MODULE_NOT_FOUND") throw error;
    }
  }
  if (names.length === 0) {
    console.error(`error: there is no program for ${process.platform} on ${process.arch}`);
    console.error("hint: `cargo install --locked skillpm` builds it with Rust");
  } else {
    console.error(`error: the package \`${names[0]}\` is not installed`);
    console.error("hint: install again without `--omit=optional`, and do not copy `node_modules` between systems");
  }
  return process.exit(1);
}

const program = findProgram();
let child;

// A terminal sends Ctrl-C to both processes; from elsewhere it reaches only this one.
for (const signal of ["SIGTERM", "SIGHUP", "SIGINT"]) {
  process.on(signal, () => {
    if (signal !== "SIGINT" || !process.stdin.isTTY) child?.kill(signal);
  });
}

child = spawn(program, process.argv.slice(2), { stdio: "inherit" });

child.on("error", (error) => {
  console.error(`error: the program could not be started: ${error.message}`);
  process.exit(1);
});

// Ends as the program ended: with its exit code, or by the same signal.
child.on("exit", (code, signal) => {
  if (signal === null) process.exit(code);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
  // Reached only where the signal does not end a process, as on Windows.
  setTimeout(() => process.exit(128 + (os.constants.signals[signal] ?? 0)), 100);
});
