package proc

import (
	"encoding/json"
	"errors"
	"os"
	"syscall"
	"time"
)

func start(c Command, files []*os.File) (tree, error) {
	switch {
	case c.Cgroup != "":
		return startInCgroup(c, files)
	case c.Shim:
		return startShim(c, files)
	}
	return startDirectly(c, files)
}

// shimTree is a tree below a shim. The shim leads an ordinary tree, whose sweep finds what is left if the shim itself
// is killed.
type shimTree struct {
	*unixTree
	life    *os.File // closing it tells the shim to end everything
	reports *os.File
	decoder *json.Decoder
	program int
	last    shimReport
}

var errNoShim = errors.New("proc: Command.Shim needs ShimMain to be called first in main, and not set-uid")

// startShim starts a shim, has it start the program, and waits until that is done.
//
// The shim has no cookie and the watchdog does not know it, because it must survive the death of this process to end
// the program.
func startShim(c Command, files []*os.File) (tree, error) {
	if !shimInstalled.Load() {
		return nil, errNoShim
	}
	p, err := openShimPipes()
	if err != nil {
		return nil, err
	}
	process, err := startProcess("/proc/self/exe", []string{shimName}, &os.ProcAttr{
		Env:   []string{},
		Files: append(files[:3:3], p.lifeIn, p.reportOut),
		Sys:   &syscall.SysProcAttr{Setsid: true},
	})
	p.closeShimEnds()
	if err != nil {
		p.close()
		return nil, err
	}
	cookie := newCookie()
	base, err := newUnixTree(process, cookie)
	if err != nil {
		p.close()
		return nil, err
	}
	t := &shimTree{unixTree: base, life: p.life, reports: p.reports, decoder: json.NewDecoder(p.reports)}
	if err := t.order(c, cookie); err != nil {
		t.sweep(c.Teardown)
		<-t.exited()
		t.reap()
		return nil, err
	}
	return t, nil
}

// order sends the shim its order and waits for the report that the program has started.
func (t *shimTree) order(c Command, cookie string) error {
	order := shimOrder{c.Path, c.Args, markEnv(c.Env, c.Dir, cookie), c.Dir, c.Teardown}
	_ = t.life.SetWriteDeadline(time.Now().Add(c.Teardown)) // pipes have deadlines
	if err := json.NewEncoder(t.life).Encode(order); err != nil {
		return err
	}
	_ = t.reports.SetReadDeadline(time.Now().Add(c.Teardown))
	var report shimReport
	if err := t.decoder.Decode(&report); err != nil {
		return err
	}
	if report.Pid == 0 {
		return &os.PathError{Op: "fork/exec", Path: c.Path, Err: report.Errno}
	}
	t.program = report.Pid
	return nil
}

// pid is that of the program, not of the shim.
func (t *shimTree) pid() int { return t.program }

// remember has nothing to do: the shim adopts what loses its parents.
func (t *shimTree) remember() {}

// ask lets the shim pass the signal on.
func (t *shimTree) ask(s softSignal) {
	_ = t.process.Signal(softSignals[s]) // fails if it has ended already
}

// sweep lets the shim end everything, then checks that it has.
func (t *shimTree) sweep(limit time.Duration) swept {
	deadline := time.Now().Add(limit)
	_ = t.life.Close() // tells the shim
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-t.exited():
		_ = t.reports.SetReadDeadline(time.Now().Add(reapTimeout)) // pipes have deadlines
		_ = t.decoder.Decode(&t.last)                              // none if the shim was killed
	case <-timer.C:
	}
	left := t.unixTree.sweep(time.Until(deadline))
	return swept{clean: left.clean, leftovers: left.leftovers + t.last.Leftovers}
}

// reap reaps the shim and returns the status of the program, or of the shim if it had no time to tell.
func (t *shimTree) reap() status {
	_ = t.reports.Close() // it was only read from
	s := reapProcess(t.process)
	if t.last.Pid != 0 {
		return statusOf(t.last.Wait)
	}
	return s
}

type shimPipes struct{ lifeIn, life, reports, reportOut *os.File }

func openShimPipes() (p shimPipes, err error) {
	if p.lifeIn, p.life, err = os.Pipe(); err != nil {
		return p, err
	}
	if p.reports, p.reportOut, err = os.Pipe(); err != nil {
		p.closeShimEnds()
		p.close()
	}
	return p, err
}

// closeShimEnds closes what only the shim should hold. Nothing was written through it.
func (p shimPipes) closeShimEnds() { _, _ = p.lifeIn.Close(), p.reportOut.Close() }

// close closes our ends. Nothing was written through them.
func (p shimPipes) close() { _, _ = p.life.Close(), p.reports.Close() }
