// Package conformance runs the real CLIs against a model server on loopback and so measures what the specs claim
// about them. Every test binary re-executes itself in a network namespace that has only loopback (package netns),
// with a temporary home (package home) and a scripted server (package loopback). "npm ci --prefix conformance"
// installs the CLIs. Without them the tests skip. The package must never use a network, a real key or a real home.
package conformance
