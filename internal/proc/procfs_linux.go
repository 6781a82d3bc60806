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

// startsAreMonotonic means that no process has an earlier start time than its parent.
const startsAreMonotonic = true

// procfs reads a /proc file system, with one reader at a time: concurrent scans of many runs would each block a
// thread and not be faster. It is safe for concurrent use.
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

// allocate creates the buffers on first use.
func (p *procfs) allocate() {
	if p.data == nil {
		p.names, p.data = make([]byte, 16<<10), make([]byte, 16<<10)
	}
}

// scan calls see with all processes, except those that are known from an earlier scan to have started before
// since. see may run on another goroutine, whose scan began after this call of scan. see may call hasCookie,
// and must not keep the slice.
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

// list reads the processes into p.all.
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
			continue // the process has ended since the listing
		}
		if s, err := parseStat(line); err == nil {
			p.all = append(p.all, s)
			p.ages.keep(age{pid, inode, s.start})
		}
	}
}

// read reads the beginning of a small file. The result is valid until the next read.
func (p *procfs) read(dir int, name string) ([]byte, error) {
	fd, err := unix.Openat(dir, name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	n, err := unix.Read(fd, p.data)
	return p.data[:max(n, 0)], err
}

// hasCookie reports whether the environment of the process contains the cookie, and whether that is known,
// which it is not while the process is starting a program. Call it only within scan.
func (p *procfs) hasCookie(pid int, cookie string) (has, known bool) {
	fd, err := unix.Open(p.root+"/"+strconv.Itoa(pid)+"/environ", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return false, true // the process has ended, or belongs to another user
	}
	defer unix.Close(fd)
	kept, empty := 0, true // the cookie may span two blocks
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

// kernelThread is the flag PF_KTHREAD of a process that has no own memory.
const kernelThread = 0x200000

// starting reports whether a live process with an empty environment is starting a program. During execve, for
// some microseconds, or longer on a busy machine, a process has the memory of the new program, but no
// environment in it.
func (p *procfs) starting(pid int) bool {
	line, err := p.read(unix.AT_FDCWD, p.root+"/"+strconv.Itoa(pid)+"/stat")
	fields := bytes.Fields(line[bytes.LastIndexByte(line, ')')+1:]) // from field 3, the state
	if err != nil || len(fields) < 49 {
		return false
	}
	flags, _ := number(fields[6])
	whole := string(fields[24]) != "0"          // the end of the code, which the kernel sets after the environment
	none := bytes.Equal(fields[47], fields[48]) // the start and the end of the environment are equal
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

// kill kills the process, unless its PID has been reused since it was seen.
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

// killByID is for kernels before 5.3. A race of a few microseconds remains between the check and the kill.
func (p *procfs) killByID(s stat) error {
	if now, err := p.stat(s.pid); err != nil || now.start != s.start {
		return unix.ESRCH
	}
	return unix.Kill(s.pid, unix.SIGKILL)
}

var errStat = errors.New("proc: malformed stat")

// parseStat parses the line "pid (name) state ppid pgrp session …". The name may contain any text, even ") R
// 1".
func parseStat(line []byte) (stat, error) {
	var s stat
	space, paren := bytes.IndexByte(line, ' '), bytes.LastIndexByte(line, ')')
	if space < 0 || paren < space || paren+3 >= len(line) {
		return s, errStat
	}
	s.state = line[paren+2]
	pid, ok := number(line[:space])
	rest := line[paren+3:]
	var fields [19]uint64 // from field 4, the parent's PID, to field 22, the start time
	for i := range fields {
		rest = bytes.TrimLeft(rest, " ")
		end := bytes.IndexByte(rest, ' ')
		if end < 0 {
			return s, errStat
		}
		fields[i], _ = number(rest[:end]) // fields that are not used may be negative
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
