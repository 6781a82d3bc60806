// Package conformance runs the real CLIs against a model server on loopback, so that what clichain believes about them
// is measured and not remembered. It never reaches a network: every test binary re-executes itself in a network
// namespace that has nothing but loopback (package netns), with a home that is thrown away (package home), against a
// server that says what the test scripted (package loopback).
//
// One command installs the CLIs, at the versions of package-lock.json, into conformance/node_modules:
//
//	npm ci --prefix conformance
//
// CLICHAIN_CLIS names another folder to take them from. What is missing is skipped, never failed.
package conformance
