package proc

import (
	"encoding/json"
	"errors"
	"os"
	"slices"
	"syscall"
	"time"

	"github.com/clichain/clichain/internal/landlock"
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

// shimTree is a tree below a shim. The shim leads a unixTree, whose sweep finds the remaining processes if the
// shim itself was killed.
type shimTree struct {
	*unixTree
	life    *os.File // closing it makes the shim kill the whole tree
	reports *os.File
	decoder *json.Decoder
	program int
	last    shimReport
}

var errNoShim = errors.New("proc: Command.Shim needs ShimMain to be called first in main, and not set-uid")

// startShim starts a shim, sends it the order to start the program, and waits for the report.
//
// The shim has no cookie and is not registered with the watchdog, because it must survive the death of this
// process to kill the program.
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
	}, shimRules(c.Rules))
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

// shimRules returns the rules of a confined shim, which runs the program of this process.
func shimRules(rules []landlock.Rule) []landlock.Rule {
	if rules == nil {
		return nil
	}
	return append(slices.Clip(rules), landlock.Rule{Path: "/proc/self/exe", Access: landlock.Read | landlock.Execute})
}

// order sends the order to the shim and waits for the report that the program has started.
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

// pid returns the PID of the program, not of the shim.
func (t *shimTree) pid() int { return t.program }

// remember does nothing, because the shim adopts orphaned processes.
func (t *shimTree) remember() {}

// ask sends the signal to the shim, which forwards it.
func (t *shimTree) ask(s softSignal) {
	_ = t.process.Signal(softSignals[s]) // fails if the shim has ended
}

// sweep makes the shim kill the whole tree, and then checks the result.
func (t *shimTree) sweep(limit time.Duration) swept {
	deadline := time.Now().Add(limit)
	_ = t.life.Close() // makes the shim kill the tree
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-t.exited():
		_ = t.reports.SetReadDeadline(time.Now().Add(reapTimeout)) // pipes have deadlines
		_ = t.decoder.Decode(&t.last)                              // fails if the shim was killed
	case <-timer.C:
	}
	left := t.unixTree.sweep(time.Until(deadline))
	return swept{clean: left.clean, leftovers: left.leftovers + t.last.Leftovers}
}

// reap reaps the shim and returns the status of the program, or that of the shim if it sent no final report.
func (t *shimTree) reap() status {
	_ = t.reports.Close() // opened for reading only
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

// closeShimEnds closes the descriptors that belong to the shim. Nothing was written to them.
func (p shimPipes) closeShimEnds() { _, _ = p.lifeIn.Close(), p.reportOut.Close() }

// close closes the ends of this process. Nothing was written to them.
func (p shimPipes) close() { _, _ = p.life.Close(), p.reports.Close() }
