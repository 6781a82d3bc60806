//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package proc

import "os"

func start(c Command, files []*os.File) (tree, error) { return startDirectly(c, files) }
