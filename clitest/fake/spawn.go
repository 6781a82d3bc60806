package fake

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// A child receives the path of the fake, one of these flags, a Spawn in JSON, and Spawn.Args. It needs no file, so it
// also works after the directory of the test is deleted.
const (
	childFlag  = "--clitest-child"  // play Spawn.Steps
	daemonFlag = "--clitest-daemon" // start the child in a new session, and exit
)

// readyFile is the number, after the three standard descriptors, of the descriptor that a child closes to signal that
// it is ready.
const readyFile = 3

func isChildFlag(arg string) bool { return arg == childFlag || arg == daemonFlag }

func playChild(flag, data string) {
	var s Spawn
	if err := json.Unmarshal([]byte(data), &s); err != nil {
		fail("%s: %v", flag, err)
	}
	ready := os.NewFile(readyFile, "ready")
	closeOnExec(readyFile)
	if flag == childFlag {
		newPlayer(os.Args[0], s.Steps, ready.Close).run()
	}
	s.Daemon, s.Setsid = false, true
	if _, err := start(os.Args[0], s, ready); err != nil {
		fail("daemon: %v", err)
	}
	exit(0)
}

// settle tells the parent that this process has reached a step that waits or exits. Only the first call has an effect.
func (p *player) settle() {
	if p.ready != nil {
		_ = p.ready() // fails if the parent has ended
		p.ready = nil
	}
}

// spawn starts the children of a step and waits until they are ready or, with Wait, have ended.
func (p *player) spawn(s Spawn) error {
	if s.Self {
		s.Steps = p.steps
	}
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	var running sync.WaitGroup
	for range max(s.Count, 1) {
		child, err := start(p.path, s, w)
		if err != nil {
			return err
		}
		if s.Daemon {
			_, err = child.Wait()
		}
		if err != nil {
			return err
		}
		p.attend(child, s, &running)
	}
	if err := w.Close(); err != nil {
		return err
	}
	if !s.Self && canSettle {
		_, err = io.Copy(io.Discard, r) // returns when the last child has closed its end
	}
	if s.Wait {
		p.settle()
		running.Wait()
	}
	return err
}

// attend waits for a child, and replaces it if the step has Respawn. Other children are not waited for: with hundreds
// of children, each wait would cost a thread.
func (p *player) attend(child *os.Process, s Spawn, running *sync.WaitGroup) {
	switch {
	case s.Daemon:
	case s.Respawn:
		running.Go(func() { p.respawn(child, s) })
	case s.Wait:
		running.Go(func() { _, _ = child.Wait() })
	default:
		_ = child.Release() // only frees memory
	}
}

func (p *player) respawn(child *os.Process, s Spawn) {
	for {
		_, _ = child.Wait() // the exit status does not matter
		next, err := start(p.path, s, nil)
		if err != nil {
			time.Sleep(time.Millisecond) // no process available: retry
			continue
		}
		child = next
	}
}

// start starts one child. A nil ready means that the parent does not wait for it.
func start(path string, s Spawn, ready *os.File) (*os.Process, error) {
	flag := childFlag
	if s.Daemon {
		flag = daemonFlag
	}
	data, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	attr := &os.ProcAttr{Files: []*os.File{null, null, null}, Sys: sysAttr(s)}
	if s.HoldStdout {
		attr.Files[1], attr.Files[2] = os.Stdout, os.Stderr
	}
	if ready == nil {
		ready = null
	}
	if canSettle {
		attr.Files = append(attr.Files, ready)
	}
	if s.ClearEnv {
		attr.Env = []string{}
	}
	child, err := os.StartProcess(exe, append([]string{path, flag, string(data)}, s.Args...), attr)
	if err != nil {
		return nil, fmt.Errorf("start child: %w", err)
	}
	return child, nil
}
