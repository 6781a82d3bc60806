//go:build !(darwin || linux || freebsd || netbsd || openbsd || dragonfly || windows)

package clichain

import (
	"errors"
	"os"
)

func tryLock(*os.File) (bool, error) { return false, errors.ErrUnsupported }

func writable(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
