//go:build dragonfly || freebsd || netbsd || openbsd

package proc

import (
	"errors"
	"time"

	"golang.org/x/sys/unix"
)

const startsAreMonotonic = false

// rememberEvery returns 0, which means never, because this system has no readable process table.
func rememberEvery() time.Duration { return 0 }

// table stands for a process table that cannot be read. On these systems, only groups are killed, and no tree
// counts as clean.
type table struct{}

var system table

func (table) scan(uint64, func([]stat)) error         { return errors.ErrUnsupported }
func (table) stat(int) (stat, error)                  { return stat{}, errors.ErrUnsupported }
func (table) hasCookie(int, string) (has, known bool) { return false, true }
func (table) kill(s stat) error                       { return unix.Kill(s.pid, unix.SIGKILL) }
