package proc

import (
	"bytes"
	"errors"
)

var errStat = errors.New("proc: malformed stat")

// parseStat reads the line "pid (name) state ppid pgrp session …". The name may contain anything, also ") R 1".
func parseStat(line []byte) (stat, error) {
	var s stat
	space, paren := bytes.IndexByte(line, ' '), bytes.LastIndexByte(line, ')')
	if space < 0 || paren < space || paren+3 >= len(line) {
		return s, errStat
	}
	s.state = line[paren+2]
	pid, ok := number(line[:space])
	rest := line[paren+3:]
	var fields [19]uint64 // from the parent's pid, field 4, to the start time, field 22
	for i := range fields {
		rest = bytes.TrimLeft(rest, " ")
		end := bytes.IndexByte(rest, ' ')
		if end < 0 {
			return s, errStat
		}
		fields[i], _ = number(rest[:end]) // the ones we do not need may be negative
		rest = rest[end:]
	}
	s.pid, s.parent, s.group, s.session = int(pid), int(fields[0]), int(fields[1]), int(fields[2])
	s.threads, s.start = int(fields[16]), fields[18]
	if !ok || pid == 0 {
		return s, errStat
	}
	return s, nil
}

// number parses decimal digits without allocating.
func number(digits []byte) (n uint64, ok bool) {
	for _, d := range digits {
		if d < '0' || d > '9' {
			return 0, false
		}
		n = n*10 + uint64(d-'0')
	}
	return n, len(digits) > 0
}
