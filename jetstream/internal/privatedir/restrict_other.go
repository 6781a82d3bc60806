//go:build !windows

package privatedir

import "os"

// restrict gives all permissions of a directory to this user, and none to others.
func restrict(dir string) error { return os.Chmod(dir, 0o700) }
