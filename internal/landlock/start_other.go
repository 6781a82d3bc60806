//go:build !(linux && (amd64 || arm64))

package landlock

var errNone = &UnsupportedError{"this system has no Landlock, or clichain does not support its processor"}

// Usable returns an [UnsupportedError].
func Usable() (version int, err error) { return 0, errNone }
