package container_test

import (
	"bufio"
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// engine is a container engine: it makes containers and runs commands of the client in them.
type engine struct {
	t       *testing.T
	dir     string   // directory of the sockets; short, because the length of their names is limited
	folders []string // directories that containers share with this machine
	cliDir  string   // in the PATH inside

	// deny answers a client in place of running its command; "" allows it.
	deny func(args []string) string
	// foreign marks an engine on another machine, which does not see the mark of a run on this machine.
	foreign bool

	mu    sync.Mutex
	calls []job
	boxes map[string]*box
}

// box is one container.
type box struct {
	process *os.Process
	life    *os.File
	socket  string
	gone    chan struct{}
}

// newEngine starts an engine with the container "dev", and returns the path of its client. It skips the test if this
// user cannot create namespaces.
func newEngine(t *testing.T, client string) (*engine, string) {
	t.Helper()
	exe, err := os.Executable()
	require.NoError(t, err)
	dir, err := os.MkdirTemp("", "box")
	require.NoError(t, err)
	e := &engine{
		t: t, dir: dir, cliDir: t.TempDir(), boxes: map[string]*box{},
		folders: []string{filepath.Dir(exe), filepath.Dir(t.TempDir())},
	}
	if err := e.create("dev"); err != nil {
		t.Skip("no namespaces for this user: ", err)
	}
	path, socket := filepath.Join(dir, client), filepath.Join(dir, "engine.sock")
	require.NoError(t, os.Symlink(exe, path))
	require.NoError(t, os.Symlink(socket, path+engineSuffix))
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: socket, Net: "unix"})
	require.NoError(t, err)
	var serving sync.WaitGroup
	serving.Go(func() { e.accept(listener, &serving) })
	t.Cleanup(func() {
		_ = listener.Close()
		for _, name := range e.names() {
			e.remove(name)
		}
		serving.Wait()
		require.NoError(t, os.RemoveAll(dir))
	})
	return e, path
}

func (e *engine) names() (names []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for name := range e.boxes {
		names = append(names, name)
	}
	return names
}

// create starts the first process of a container.
func (e *engine) create(name string) error {
	exe, err := os.Executable()
	require.NoError(e.t, err)
	input, life, err := os.Pipe()
	require.NoError(e.t, err)
	defer input.Close()
	ready, w, err := os.Pipe()
	require.NoError(e.t, err)
	defer ready.Close()
	attr := &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWNS}
	if os.Geteuid() != 0 {
		attr.Cloneflags |= syscall.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}
	}
	b := &box{life: life, socket: filepath.Join(e.dir, name+".sock"), gone: make(chan struct{})}
	b.process, err = os.StartProcess(exe, append([]string{boxInit, b.socket}, e.folders...), &os.ProcAttr{
		Files: []*os.File{input, w, os.Stderr}, Env: []string{}, Sys: attr,
	})
	_ = w.Close() // now owned by the container
	if err != nil {
		_ = life.Close() // no reader is left
		return err
	}
	go func() { defer close(b.gone); _, _ = b.process.Wait() }()
	if _, err := bufio.NewReader(ready).ReadString('\n'); err != nil {
		<-b.gone
		_ = life.Close() // no reader is left
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.boxes[name] = b
	return nil
}

// remove ends a container and all processes in it.
func (e *engine) remove(name string) bool {
	e.mu.Lock()
	b := e.boxes[name]
	delete(e.boxes, name)
	e.mu.Unlock()
	if b == nil {
		return false
	}
	_ = b.process.Kill() // it may have exited
	<-b.gone
	_ = b.life.Close() // nothing was written
	return true
}

func (e *engine) accept(listener *net.UnixListener, serving *sync.WaitGroup) {
	for {
		conn, err := listener.AcceptUnix()
		if err != nil {
			return
		}
		serving.Go(func() {
			defer conn.Close()
			j, files, err := hear(conn)
			if err != nil {
				return
			}
			defer func() {
				for _, f := range files {
					_ = f.Close() // ask has closed those it sent
				}
			}()
			_ = json.NewEncoder(conn).Encode(e.do(j, files)) // a killed client gets no reply
		})
	}
}

// do runs a command of a client.
func (e *engine) do(j job, files []*os.File) outcome {
	e.mu.Lock()
	e.calls = append(e.calls, j)
	deny := e.deny
	e.mu.Unlock()
	if deny != nil {
		if said := deny(j.Args); said != "" {
			return outcome{1, said}
		}
	}
	name, inside := e.parse(j)
	switch j.Args[0] {
	case "run":
		if err := e.create(name); err != nil {
			return outcome{125, "docker: " + err.Error()}
		}
		defer e.remove(name)
	case "stop", "rm":
		if !e.remove(j.Args[len(j.Args)-1]) {
			return outcome{1, "Error response from daemon: No such container: " + name}
		}
		return outcome{}
	}
	e.mu.Lock()
	b := e.boxes[name]
	e.mu.Unlock()
	if b == nil {
		return outcome{1, "Error response from daemon: No such container: " + name}
	}
	out, err := ask(b.socket, inside, files...)
	if err != nil {
		return outcome{Exit: 137} // the container does not exist any more
	}
	return out
}

// parse reads the arguments of exec and run.
func (e *engine) parse(j job) (name string, inside job) {
	inside.Dir = "/"
	inside.Env = []string{"PATH=" + e.cliDir + ":/usr/bin:/bin", "HOME=/inside", insideVar + "=1"}
	args := j.Args[1:]
	var shell []string
	for ; len(args) > 0 && strings.HasPrefix(args[0], "-"); args = args[1:] {
		if !slices.Contains([]string{"-e", "-w", "--name", "--entrypoint"}, args[0]) {
			continue
		}
		switch option := args[0]; option {
		case "-e":
			inside.Env = append(inside.Env, e.variable(j.Env, args[1])...)
		case "-w":
			inside.Dir = args[1]
		case "--name":
			name = args[1]
		case "--entrypoint":
			shell = []string{args[1]}
		}
		args = args[1:]
	}
	if name == "" && len(args) > 0 {
		name = args[0]
	}
	if len(args) > 0 {
		inside.Args = append(shell, args[1:]...)
	}
	return name, inside
}

// variable returns the value that -e takes from the client's environment.
func (e *engine) variable(env []string, name string) []string {
	at := slices.IndexFunc(env, func(kv string) bool { return strings.HasPrefix(kv, name+"=") })
	if at < 0 || e.foreign && name == "CLICHAIN_RUN" {
		return nil
	}
	return env[at : at+1]
}

// inside runs a program in the container "dev" and returns what it prints.
func (e *engine) inside(args ...string) string {
	e.t.Helper()
	null, err := os.Open(os.DevNull)
	require.NoError(e.t, err)
	r, w, err := os.Pipe()
	require.NoError(e.t, err)
	defer r.Close()
	stderr, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	require.NoError(e.t, err)
	_, err = ask(e.boxes["dev"].socket, job{Args: args, Dir: "/", Env: []string{"PATH=/usr/bin:/bin"}}, null, w, stderr)
	require.NoError(e.t, err)
	out, err := bufio.NewReader(r).ReadString(0)
	require.ErrorContains(e.t, err, "EOF")
	return out
}

// asked lists the clients' calls so far, as short verbs.
func (e *engine) asked() (verbs []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, j := range e.calls {
		verb := j.Args[0]
		if verb == "exec" && !slices.Contains(j.Args, "-i") {
			verb = "sweep"
		}
		verbs = append(verbs, verb)
	}
	return verbs
}
