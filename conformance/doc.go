// Package conformance tests the specs with the real CLIs and a model server on loopback. Every test binary re-executes
// itself in a network namespace that has only loopback (package netns). The CLIs run in a temporary home (package home)
// and call a scripted server (package loopback). "npm ci --prefix conformance" installs the CLIs. Without them the
// tests skip. The package must never use a network, a real key or a real home.
package conformance
