//go:build !(linux && (amd64 || arm64))

package landlock

import "errors"

var errNone = errors.New("this system has no Landlock, or clichain does not support its processor")

// Usable returns an error: this system cannot confine programs.
func Usable() (version int, err error) { return 0, errNone }
