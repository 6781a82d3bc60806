//go:build dragonfly || freebsd || netbsd || openbsd

package proc

import (
	"errors"
	"time"

	"golang.org/x/sys/unix"
)

const startsAreMonotonic = false

// rememberEvery is 0: there is nothing to see.
func rememberEvery() time.Duration { return 0 }

// table stands for a table of processes that we cannot read: only groups are killed here, and no tree is called clean.
type table struct{}

var system table

func (table) scan(uint64, func([]stat)) error         { return errors.ErrUnsupported }
func (table) stat(int) (stat, error)                  { return stat{}, errors.ErrUnsupported }
func (table) hasCookie(int, string) (has, known bool) { return false, true }
func (table) kill(s stat) error                       { return unix.Kill(s.pid, unix.SIGKILL) }
