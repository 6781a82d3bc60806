package proc

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// startsAreMonotonic says that a process never has an earlier start time than its parent.
const startsAreMonotonic = true

// procfs reads a /proc, one reader at a time: concurrent scans of many runs would each hold a thread and not be faster.
// It is safe for concurrent use.
type procfs struct {
	root  string
	queue scanQueue

	mu    sync.Mutex
	names []byte // directory entries
	data  []byte // of a file
	all   []stat
	ages  ages
}

// system is the /proc of this system.
var system = &procfs{root: "/proc"}

// allocate makes the buffers at the first use.
func (p *procfs) allocate() {
	if p.data == nil {
		p.names, p.data = make([]byte, 16<<10), make([]byte, 16<<10)
	}
}

// scan calls see with all processes but those that an earlier scan knows to have started before since. It may be called
// from another goroutine, whose scan began after this one was asked for. see may call hasCookie, and must not keep the
// slice.
func (p *procfs) scan(since uint64, see func(all []stat)) error {
	own := p.queue.add(since, see)
	p.mu.Lock()
	defer p.mu.Unlock()
	if own.done {
		return own.err
	}
	all, since := p.queue.take()
	err := p.list(since)
	for _, request := range all {
		if request.done, request.err = true, err; err == nil {
			request.see(p.all)
		}
	}
	return err
}

// list reads the processes into all.
func (p *procfs) list(since uint64) error {
	p.allocate()
	dir, err := unix.Open(p.root, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(dir)
	p.all = p.all[:0]
	p.ages.begin(time.Now())
	for {
		n, err := unix.Getdents(dir, p.names)
		if err != nil || n <= 0 {
			return err
		}
		p.statAll(dir, p.names[:n], since)
	}
}

func (p *procfs) statAll(dir int, entries []byte, since uint64) {
	for len(entries) > 0 {
		size := binary.NativeEndian.Uint16(entries[16:]) // struct linux_dirent64: ino, off, reclen, type, name
		name, _, _ := bytes.Cut(entries[19:size], []byte{0})
		inode := binary.NativeEndian.Uint64(entries)
		entries = entries[size:]
		pid, ok := number(name)
		if !ok || p.ages.before(since, pid, inode) {
			continue
		}
		line, err := p.read(dir, string(name)+"/stat")
		if err != nil {
			continue // gone since the entry was read
		}
		if s, err := parseStat(line); err == nil {
			p.all = append(p.all, s)
			p.ages.keep(age{pid, inode, s.start})
		}
	}
}

// read reads the beginning of a small file, valid until the next read.
func (p *procfs) read(dir int, name string) ([]byte, error) {
	fd, err := unix.Openat(dir, name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	n, err := unix.Read(fd, p.data)
	return p.data[:max(n, 0)], err
}

// hasCookie reports whether the environment of the process contains the cookie, and whether that is known: not while it
// starts a program. Within scan only.
func (p *procfs) hasCookie(pid int, cookie string) (has, known bool) {
	fd, err := unix.Open(p.root+"/"+strconv.Itoa(pid)+"/environ", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return false, true // gone, or another user's
	}
	defer unix.Close(fd)
	kept, empty := 0, true // the end of one block may be the beginning of the cookie
	for {
		n, err := unix.Read(fd, p.data[kept:])
		if n <= 0 || err != nil {
			return false, !empty || !p.starting(pid)
		}
		block := p.data[:kept+n]
		if bytes.Contains(block, []byte(cookie)) {
			return true, true
		}
		kept, empty = copy(p.data, block[max(0, len(block)-len(cookie)+1):]), false
	}
}

// kernelThread is the flag PF_KTHREAD of a process that has no memory of its own.
const kernelThread = 0x200000

// starting reports whether a live process, whose environment was empty, has one by now or will have: within execve, for
// some microseconds, or longer on a busy machine, it has the memory of the new program and no environment in it.
func (p *procfs) starting(pid int) bool {
	line, err := p.read(unix.AT_FDCWD, p.root+"/"+strconv.Itoa(pid)+"/stat")
	fields := bytes.Fields(line[bytes.LastIndexByte(line, ')')+1:]) // from the state, field 3, on
	if err != nil || len(fields) < 49 {
		return false
	}
	flags, _ := number(fields[6])
	whole := string(fields[24]) != "0"          // the end of the code, which the kernel notes after the environment
	none := bytes.Equal(fields[47], fields[48]) // the environment's start and end
	return !(whole && none) && flags&kernelThread == 0 && !bytes.Contains([]byte("ZXx"), fields[0])
}

func (p *procfs) stat(pid int) (stat, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.allocate()
	line, err := p.read(unix.AT_FDCWD, p.root+"/"+strconv.Itoa(pid)+"/stat")
	if err != nil {
		return stat{}, err
	}
	return parseStat(line)
}

// kill kills the process unless its id has been reused since it was seen.
func (p *procfs) kill(s stat) error {
	fd, err := unix.PidfdOpen(s.pid, 0)
	if err == unix.ENOSYS {
		return p.killByID(s)
	}
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if now, err := p.stat(s.pid); err != nil || now.start != s.start {
		return unix.ESRCH
	}
	return unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0)
}

// killByID is for kernels before 5.3; between check and kill there is a gap of microseconds.
func (p *procfs) killByID(s stat) error {
	if now, err := p.stat(s.pid); err != nil || now.start != s.start {
		return unix.ESRCH
	}
	return unix.Kill(s.pid, unix.SIGKILL)
}

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
