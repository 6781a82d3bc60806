//go:build !linux

package proc

import (
	"os"
	"strconv"
	"sync"
)

// ShimMain does nothing on this system, where Command.Shim has no effect.
func ShimMain() (works bool) { return false }

// SweepOrphans does nothing on this system: it needs /proc to find what dead hosts have left.
func SweepOrphans() (int, error) { return 0, nil }

// hostID names this process. Nothing reads it on this system, where the environment of other processes is hidden.
var hostID = sync.OnceValue(func() string { return strconv.Itoa(os.Getpid()) })
