package proc

import (
	"bytes"
	"encoding/binary"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// startsAreMonotonic says that a process never has an earlier start time than its parent.
const startsAreMonotonic = true

// rememberEvery is 0: the cookie finds what has lost its parents, and scans cost on systems with many processes.
const rememberEvery = 0

// procfs reads a /proc. One reader at a time: with many runs in one process, concurrent scans would each hold a thread
// and none would be faster.
type procfs struct {
	root string

	mu    sync.Mutex
	names []byte // directory entries
	data  []byte // of a file
	all   []stat
}

// system is the /proc of this system.
var system = &procfs{root: "/proc"}

// scan calls see with all processes. see may call hasCookie, and must not keep the slice.
func (p *procfs) scan(see func(all []stat)) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.names == nil {
		p.names, p.data = make([]byte, 16<<10), make([]byte, 16<<10)
	}
	dir, err := unix.Open(p.root, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(dir)
	p.all = p.all[:0]
	for {
		n, err := unix.Getdents(dir, p.names)
		if err != nil {
			return err
		}
		if n <= 0 {
			break
		}
		p.statAll(dir, p.names[:n])
	}
	see(p.all)
	return nil
}

// statAll reads the state of the processes among the directory entries.
func (p *procfs) statAll(dir int, entries []byte) {
	for len(entries) > 0 {
		size := binary.NativeEndian.Uint16(entries[16:]) // struct linux_dirent64: ino, off, reclen, type, name
		name, _, _ := bytes.Cut(entries[19:size], []byte{0})
		entries = entries[size:]
		if len(name) == 0 || name[0] < '1' || name[0] > '9' {
			continue
		}
		line, err := p.read(dir, string(name)+"/stat")
		if err != nil {
			continue // gone since the entry was read
		}
		if s, err := parseStat(line); err == nil {
			p.all = append(p.all, s)
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

// hasCookie reports whether the environment of the process contains the cookie. Within scan only.
func (p *procfs) hasCookie(pid int, cookie string) bool {
	fd, err := unix.Open(p.root+"/"+strconv.Itoa(pid)+"/environ", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return false // gone, or another user's
	}
	defer unix.Close(fd)
	kept := 0 // the end of one block may be the beginning of the cookie
	for {
		n, err := unix.Read(fd, p.data[kept:])
		if n <= 0 || err != nil {
			return false
		}
		block := p.data[:kept+n]
		if bytes.Contains(block, []byte(cookie)) {
			return true
		}
		kept = copy(p.data, block[max(0, len(block)-len(cookie)+1):])
	}
}

// stat returns the present state of one process.
func (p *procfs) stat(pid int) (stat, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.data == nil {
		p.names, p.data = make([]byte, 16<<10), make([]byte, 16<<10)
	}
	line, err := p.read(unix.AT_FDCWD, p.root+"/"+strconv.Itoa(pid)+"/stat")
	if err != nil {
		return stat{}, err
	}
	return parseStat(line)
}

// kill kills the process if it is still the one that was seen: its id may be another's by now.
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
