package bench_test

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// peak returns the peak memory of a process since its program started, and 0 if there is no such process. The value
// that wait reports for a child is unusable: it starts with the peak of the parent.
func peak(process string) (bytes int64) {
	status, _ := os.ReadFile(filepath.Join("/proc", process, "status"))
	for line := range strings.Lines(string(status)) {
		if _, err := fmt.Sscanf(line, "VmHWM: %d kB", &bytes); err == nil {
			return bytes << 10
		}
	}
	return 0
}

// run runs a command. It measures the memory only if the job wants it, because that takes time.
func (j job) run(cmd *exec.Cmd) (bytes int64, err error) {
	if j.Memory {
		return runWatched(cmd)
	}
	return 0, cmd.Run()
}

// runWatched runs a command and returns its peak memory, including children that run the same program. It samples
// every few milliseconds.
func runWatched(cmd *exec.Cmd) (bytes int64, err error) {
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	program, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", cmd.Process.Pid))
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	most := map[string]int64{}
	for ticks := time.Tick(5 * time.Millisecond); ; {
		look(fmt.Sprint(cmd.Process.Pid), program, most)
		select {
		case err = <-ended:
			for _, one := range most {
				bytes += one
			}
			return bytes, err
		case <-ticks:
		}
	}
}

// look records the peak memory of a process and of its children.
func look(process, program string, most map[string]int64) {
	exe, err := os.Readlink("/proc/" + process + "/exe")
	if err != nil || exe != program {
		return
	}
	most[process] = max(most[process], peak(process))
	lists, _ := filepath.Glob("/proc/" + process + "/task/*/children")
	for _, list := range lists {
		text, _ := os.ReadFile(list)
		for child := range strings.FieldsSeq(string(text)) {
			look(child, program, most)
		}
	}
}

func TestPeak(t *testing.T) {
	require.Greater(t, peak("self"), int64(1<<20))
	require.Zero(t, peak("none"))
	most, err := runWatched(exec.Command("sleep", "1"))
	require.NoError(t, err)
	require.Greater(t, most, int64(100<<10))
}

func TestPeakOfChildren(t *testing.T) {
	sees := func(script string) map[string]int64 {
		cmd := exec.Command("sh", "-c", script)
		input, err := cmd.StdinPipe()
		require.NoError(t, err)
		output, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		_, err = io.WriteString(input, "\n")
		require.NoError(t, err)
		_, err = output.Read(make([]byte, 1)) // the innermost process writes, so it runs
		require.NoError(t, err)
		program, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", cmd.Process.Pid))
		require.NoError(t, err)
		most := map[string]int64{}
		look(fmt.Sprint(cmd.Process.Pid), program, most)
		require.NoError(t, input.Close())
		require.NoError(t, cmd.Wait())
		return most
	}
	require.Len(t, sees("read line; echo; read line; true"), 1)
	require.Len(t, sees("sh -c 'read line; echo; read line; true'; true"), 2)
	require.Len(t, sees("(exec cat); true"), 1)
}
