//go:build race

package norace

// Race reports whether the race detector examines this process.
const Race = true
