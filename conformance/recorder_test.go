package conformance_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/clichain/clichain/internal/recording"
)

// These environment variables make this test binary the recorder.
const (
	recordInto    = "CLICHAIN_RECORD_INTO"    // the directory of the recording
	recordProgram = "CLICHAIN_RECORD_PROGRAM" // the program to record
)

// playRecorder never returns in a process that runs as the recorder. The tests would start the recorder again.
func playRecorder() {
	into, ok := os.LookupEnv(recordInto)
	if !ok {
		return
	}
	status, err := recordRun(into, os.Getenv(recordProgram), os.Args)
	if err != nil {
		fmt.Fprintln(os.Stderr, "recorder:", err)
		os.Exit(70)
	}
	os.Exit(status)
}

// recordRun runs the program with the arguments, input and environment of this process. It records the input and
// output, and returns the exit code. It records only the first run into a directory, because the library may retry.
func recordRun(into, program string, args []string) (int, error) {
	// Signals to the process group stop a run and reach the program directly. This process must survive them to
	// record the end.
	stopped := make(chan os.Signal, 1)
	signal.Notify(stopped, os.Interrupt, syscall.SIGTERM)
	input, err := io.ReadAll(os.Stdin)
	if err != nil {
		return 0, err
	}
	cmd := exec.Command(program, args[1:]...)
	cmd.Env = slices.DeleteFunc(os.Environ(), func(kv string) bool { return strings.HasPrefix(kv, "CLICHAIN_RECORD_") })
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = bytes.NewReader(input), os.Stdout, os.Stderr, time.Second
	if err := os.Mkdir(into, 0o755); errors.Is(err, fs.ErrExist) {
		_, err := finish(cmd)
		return cmd.ProcessState.ExitCode(), err
	}
	if err := keepStart(cmd, into, args, input); err != nil {
		return 0, err
	}
	mark := filepath.Join(into, "stopped")
	go func() {
		<-stopped
		_ = os.WriteFile(mark, nil, 0o644) // without the file, the recording shows a run that ended by itself
	}()
	took, err := finish(cmd)
	if err != nil {
		return 0, err
	}
	code := cmd.ProcessState.ExitCode()
	end := recording.Run{ExitCode: &code, Seconds: math.Round(took.Seconds()*10) / 10}
	if os.Remove(mark) == nil {
		end.ExitCode, end.TimedOut = nil, true
	}
	return code, recording.Write(filepath.Join(into, "end"), end)
}

// keepStart writes the start of a run and copies its output to files. The files remain if this process is killed.
func keepStart(cmd *exec.Cmd, into string, args []string, input []byte) error {
	argv, err := json.MarshalIndent(append([]string{filepath.Base(args[0])}, args[1:]...), "", "  ")
	if err != nil {
		return err
	}
	for name, content := range map[string][]byte{"argv": append(argv, '\n'), "stdin": input} {
		if err := os.WriteFile(filepath.Join(into, name), content, 0o644); err != nil {
			return err
		}
	}
	for name, out := range map[string]*io.Writer{"stdout": &cmd.Stdout, "stderr": &cmd.Stderr} {
		file, err := os.Create(filepath.Join(into, name))
		if err != nil {
			return err
		}
		*out = io.MultiWriter(file, *out)
	}
	return nil
}

// finish runs a command to its end and accepts any exit code.
func finish(cmd *exec.Cmd) (time.Duration, error) {
	began := time.Now()
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) || errors.Is(err, exec.ErrWaitDelay) {
		err = nil
	}
	return time.Since(began), err
}
