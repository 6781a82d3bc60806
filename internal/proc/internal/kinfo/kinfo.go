// Package kinfo parses the process table of macOS: the array of struct kinfo_proc of sys/sysctl.h that sysctl writes
// for a 64-bit program. It makes no system call and compiles on all systems, so that its tests need no Mac.
package kinfo

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Offsets in an entry, and its size, in bytes. They are the same on arm64 and amd64.
const (
	StartSeconds = 0 // int64
	StartMicros  = 8 // int32
	State        = 36
	PID          = 40 // this field and the next two are int32
	Parent       = 560
	Group        = 564
	Size         = 648
)

// zombie is the state SZOMB of sys/proc.h.
const zombie = 5

// Process is an entry of the table.
type Process struct {
	PID, Parent, Group int

	Start uint64 // when it started, in microseconds since 1970; unique together with PID
	Ended bool   // it waits to be reaped
}

// Parse returns the processes of a table. It leaves out the kernel, which is process 0, and negative PIDs: in a system
// call such a number selects a group or the caller. A table whose size is no multiple of Size is an error, because
// another kernel has written it.
func Parse(table []byte) ([]Process, error) {
	if len(table)%Size != 0 {
		return nil, fmt.Errorf("process table of %d bytes, which is not a multiple of %d", len(table), Size)
	}
	all := make([]Process, 0, len(table)/Size)
	for ; len(table) > 0; table = table[Size:] {
		if p := parse(table[:Size]); p.PID > 0 {
			all = append(all, p)
		}
	}
	return all, nil
}

func parse(entry []byte) Process {
	number := func(offset int) int32 { return int32(binary.LittleEndian.Uint32(entry[offset:])) }
	seconds := binary.LittleEndian.Uint64(entry[StartSeconds:])
	return Process{
		PID: int(number(PID)), Parent: int(number(Parent)), Group: int(number(Group)),
		Start: seconds*1e6 + uint64(number(StartMicros)),
		Ended: entry[State] == zombie,
	}
}

// maxReads limits how often Read reads a table that grows.
const maxReads = 50

// Read reads and parses a table. sysctl asks for the size of the table and then reads it. It returns the error tooSmall
// if the table has outgrown the buffer in between, and Read calls it again.
func Read(sysctl func() ([]byte, error), tooSmall error) ([]Process, error) {
	for range maxReads {
		table, err := sysctl()
		if err == nil {
			return Parse(table)
		}
		if !errors.Is(err, tooSmall) {
			return nil, err
		}
	}
	return nil, fmt.Errorf("the process table outgrew its buffer %d times: %w", maxReads, tooSmall)
}
