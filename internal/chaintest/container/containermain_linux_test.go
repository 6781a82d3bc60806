package container_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/internal/testtime"
)

// The test binary plays all parts of a container runtime: the first process of a container, in its own namespaces,
// and the client. The test itself is the engine between them. As with a real engine, no process inside is a
// descendant of the client, and none ends with it.

// boxInit is the name of the first process of a container.
const boxInit = "clichain-test-init"

// engineSuffix is added to a client's path to name the link to its engine.
const engineSuffix = ".engine"

// job goes from the client to the engine and on to the container, with three descriptors.
type job struct {
	Args, Env []string
	Dir       string
}

// outcome is the reply.
type outcome struct {
	Exit int
	Say  string
}

// playContainer does not return in a process that plays a part, and not inside a container.
func playContainer() {
	if os.Args[0] == boxInit {
		must(beInit(os.Args[1], os.Args[2:]))
	}
	if socket, err := os.Readlink(os.Args[0] + engineSuffix); err == nil {
		must(beClient(socket))
	}
	if os.Getenv(insideVar) != "" {
		clitest.Main()
		must(fmt.Errorf("%q is no fake", os.Args))
	}
}

// insideVar is set inside the container, where the test binary must never run its tests.
const insideVar = "CLICHAIN_TEST_INSIDE"

// must ends a process that cannot play its part. os.Exit would wait for a second under the race detector.
func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "fake container:", err)
		syscall.Exit(70)
	}
	syscall.Exit(0)
}

// ask sends a job and waits for its outcome.
func ask(socket string, j job, files ...*os.File) (out outcome, err error) {
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: socket, Net: "unix"})
	if err != nil {
		return out, err
	}
	defer conn.Close()
	data, err := json.Marshal(j)
	if err != nil {
		return out, err
	}
	rights := syscall.UnixRights(int(files[0].Fd()), int(files[1].Fd()), int(files[2].Fd()))
	if _, _, err := conn.WriteMsgUnix([]byte{'!'}, rights, nil); err != nil {
		return out, err
	}
	if _, err := conn.Write(append(data, '\n')); err != nil {
		return out, err
	}
	for _, f := range files {
		_ = f.Close() // now owned by the receiver
	}
	return out, json.NewDecoder(conn).Decode(&out)
}

// hear receives one job from a connection.
func hear(conn *net.UnixConn) (j job, files []*os.File, err error) {
	oob := make([]byte, 64)
	_, n, _, _, err := conn.ReadMsgUnix(make([]byte, 1), oob)
	if err != nil {
		return j, nil, err
	}
	messages, err := syscall.ParseSocketControlMessage(oob[:n])
	if err != nil || len(messages) == 0 {
		return j, nil, fmt.Errorf("no descriptors: %v", err)
	}
	fds, err := syscall.ParseUnixRights(&messages[0])
	if err != nil {
		return j, nil, err
	}
	for _, fd := range fds {
		files = append(files, os.NewFile(uintptr(fd), "passed"))
	}
	return j, files, json.NewDecoder(conn).Decode(&j)
}

// beClient copies the streams between its descriptors and the program inside, so that they break when the client is
// killed.
func beClient(socket string) error {
	var inside [3]*os.File
	input, feed, err := os.Pipe()
	if err != nil {
		return err
	}
	inside[0] = input
	go func() {
		_, _ = io.Copy(feed, os.Stdin) // the program may end without reading
		_ = feed.Close()
	}()
	var output sync.WaitGroup
	for i, to := range []*os.File{os.Stdout, os.Stderr} {
		from, w, err := os.Pipe()
		if err != nil {
			return err
		}
		inside[i+1] = w
		output.Go(func() { _, _ = io.Copy(to, from) }) // these are never closed
	}
	out, err := ask(socket, job{Args: os.Args[1:], Env: os.Environ()}, inside[:]...)
	if err != nil {
		return err
	}
	ended := make(chan struct{})
	go func() { defer close(ended); output.Wait() }()
	select {
	case <-ended:
	case <-time.After(time.Second): // a process inside still has them open, or the machine is slow
		select {
		case <-ended:
		case <-time.After(testtime.Bound(time.Second) - time.Second):
		}
	}
	if out.Say != "" {
		fmt.Fprintln(os.Stderr, out.Say)
	}
	syscall.Exit(out.Exit)
	return nil
}

// beInit sets up a container with its own /tmp except for some directories, and runs jobs until its standard input
// ends.
func beInit(socket string, folders []string) error {
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return err
	}
	if err := syscall.Mount("proc", "/proc", "proc", 0, ""); err != nil {
		return err
	}
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: socket, Net: "unix"})
	if err != nil {
		return err
	}
	if err := ownTemp(folders); err != nil {
		return err
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		syscall.Exit(0) // ends all other processes of the container too
	}()
	fmt.Println("ready")
	for {
		conn, err := listener.AcceptUnix()
		if err != nil {
			return err
		}
		go func() {
			defer conn.Close()
			_ = json.NewEncoder(conn).Encode(runInside(conn)) // the engine may have ended
		}()
	}
}

func ownTemp(folders []string) error {
	var kept []*os.File
	for _, folder := range folders {
		f, err := os.Open(folder)
		if err != nil {
			return err
		}
		kept = append(kept, f)
	}
	if err := syscall.Mount("tmpfs", "/tmp", "tmpfs", 0, "mode=1777"); err != nil {
		return err
	}
	for i, folder := range folders {
		if !strings.HasPrefix(folder, "/tmp/") {
			continue
		}
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return err
		}
		if err := syscall.Mount(fmt.Sprintf("/proc/self/fd/%d", kept[i].Fd()), folder, "", syscall.MS_BIND, ""); err != nil {
			return err
		}
	}
	return nil
}

// runInside starts a program and waits for its end.
func runInside(conn *net.UnixConn) outcome {
	j, files, err := hear(conn)
	if err != nil {
		return outcome{125, err.Error()}
	}
	path := j.Args[0]
	if !filepath.IsAbs(path) {
		path = filepath.Join("/bin", path)
	}
	process, err := os.StartProcess(path, j.Args, &os.ProcAttr{Dir: j.Dir, Env: j.Env, Files: files, Sys: &syscall.SysProcAttr{Setsid: true}})
	for _, f := range files {
		_ = f.Close() // now owned by the program
	}
	if err != nil {
		return outcome{126, "OCI runtime exec failed: " + err.Error()}
	}
	state, err := process.Wait()
	if err != nil {
		return outcome{125, err.Error()}
	}
	status := state.Sys().(syscall.WaitStatus)
	if status.Signaled() {
		return outcome{Exit: 128 + int(status.Signal())}
	}
	return outcome{Exit: status.ExitStatus()}
}
