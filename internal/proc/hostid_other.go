//go:build !linux

package proc

import (
	"os"
	"strconv"
	"sync"
)

// hostID names this process. Nobody reads it on this system, where environments of others are not to be seen.
var hostID = sync.OnceValue(func() string { return strconv.Itoa(os.Getpid()) })
