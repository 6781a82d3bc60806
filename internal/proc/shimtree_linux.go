package proc

import (
	"encoding/json"
	"errors"
	"os"
	"syscall"
	"time"
)

// shimTree is a tree below a shim. The shim is the leader of the usual tree, which finds what is left if the shim itself
// should be killed.
type shimTree struct {
	*unixTree
	life    *os.File // its end tells the shim to end all
	reports *os.File
	decoder *json.Decoder
	program int
	last    shimReport
}

var errNoShim = errors.New("proc: Command.Shim needs ShimMain to be called first in main")

// startShim starts a shim, has it start the program, and waits until that is done.
//
// Neither the shim's environment has the cookie nor has the watchdog heard of it: it must live on, when this process
// dies, to do what only it can.
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

// order tells the shim what to start and waits for its report.
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
	_ = t.process.Signal(softSignals[s]) // ended already: then nobody needs to be asked
}

// sweep lets the shim end all, then looks whether it has.
func (t *shimTree) sweep(patience time.Duration) swept {
	deadline := time.Now().Add(patience)
	_ = t.life.Close() // that is the message
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-t.exited():
		_ = t.reports.SetReadDeadline(time.Now().Add(reapPatience)) // pipes have deadlines
		_ = t.decoder.Decode(&t.last)                               // none if the shim was killed
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

// shimPipes are the pipes between host and shim.
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
