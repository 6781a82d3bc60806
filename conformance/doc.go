// Package conformance runs the real CLIs against a model server on loopback, so that what the specs say about them is
// measured. Every test binary re-executes itself in a network namespace that has nothing but loopback (package netns),
// in a throw-away home (package home), against a scripted server (package loopback). "npm ci --prefix conformance"
// installs the CLIs; without them the tests skip. It must never know a network, a real key or a real home.
package conformance
