//go:build !unix

package owner

import "io/fs"

// Check returns nil, because the permissions of the directory apply to its files.
func Check(string, fs.FileInfo) error { return nil }

// CheckDir returns nil.
func CheckDir(string) error { return nil }
