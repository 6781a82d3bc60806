//go:build !unix

package main

import "os"

// columns returns 0, so that the demo prints neither colors nor changing lines.
func columns(*os.File) int { return 0 }
