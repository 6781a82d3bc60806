package proc

import (
	"bytes"
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// cgroupTree is a tree in its own control group. No process can leave the group, and the kernel kills it as a
// whole. The sweep of the unixTree follows: it is cheap, and it finds processes that another user moved out of
// the group.
type cgroupTree struct {
	*unixTree
	dir string
}

// startInCgroup starts the program directly in a new group.
func startInCgroup(c Command, files []*os.File) (tree, error) {
	dir := filepath.Join(c.Cgroup, "clichain-"+rand.Text()[:16])
	if err := os.Mkdir(dir, 0o755); err != nil {
		return nil, &SpawnError{Resource, dir, err}
	}
	t, err := startIn(dir, c, files)
	if err != nil {
		_ = removeGroup(dir, time.Now()) // the group is empty
		return nil, err
	}
	return t, nil
}

func startIn(dir string, c Command, files []*os.File) (*cgroupTree, error) {
	fd, err := unix.Open(dir, unix.O_DIRECTORY|unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	cookie := newCookie()
	attr := directly(c, cookie, files)
	attr.Sys.UseCgroupFD, attr.Sys.CgroupFD = true, fd
	base, err := startGuarded(c, cookie, attr)
	if err != nil {
		return nil, err
	}
	return &cgroupTree{base, dir}, nil
}

// sweep makes the kernel kill the group, and waits until the group is empty.
func (t *cgroupTree) sweep(limit time.Duration) swept {
	deadline := time.Now().Add(limit)
	leftovers := t.count()
	err := os.WriteFile(t.dir+"/cgroup.kill", []byte("1"), 0)
	left := t.unixTree.sweep(limit) // also kills if the kernel is older than 5.14
	err = errors.Join(err, removeGroup(t.dir, deadline))
	return swept{clean: left.clean && err == nil, leftovers: max(leftovers, left.leftovers)}
}

// count returns the number of live processes in the group besides the program. It records them as members,
// because nothing shows that they belonged to this run after they have ended.
func (t *cgroupTree) count() (n int) {
	procs, _ := os.ReadFile(t.dir + "/cgroup.procs") // on error, the group has no processes
	for digits := range bytes.Lines(procs) {
		pid, _ := number(bytes.TrimSpace(digits))
		s, err := system.stat(int(pid))
		if err != nil || !s.alive() {
			continue
		}
		if t.members.known[s.pid] = s.start; s.pid != t.pid() {
			n++
		}
	}
	return n
}

// removeGroup removes the group, which is possible when only ended processes are in it.
func removeGroup(dir string, deadline time.Time) error {
	for pause := scanPause; ; pause = min(pause*pauseFactor, maxPause) {
		err := os.Remove(dir)
		if !errors.Is(err, unix.EBUSY) || time.Now().After(deadline) {
			return err
		}
		time.Sleep(pause)
	}
}
