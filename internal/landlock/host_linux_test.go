package landlock

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/clichain/clichain/clitest/fake"
	"github.com/clichain/clichain/internal/seccomptest"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// hostVariable makes the test binary a host of the named kind, which starts confined programs as a user who is not root.
const hostVariable = "LANDLOCK_TEST_HOST"

var hosts = map[string]func() error{
	"starts": manyStarts, "limit": atProcessLimit,
	"create": func() error { return unusable(unix.SYS_LANDLOCK_CREATE_RULESET) },
	"rule":   func() error { return refusedWithout(unix.SYS_LANDLOCK_ADD_RULE) },
	"self":   func() error { return unusable(unix.SYS_LANDLOCK_RESTRICT_SELF) },
	"ptrace": func() error { return startsWithout(unix.SYS_PTRACE) },
	"files":  func() error { return usableAfter(unix.RLIMIT_NOFILE) },
	"procs":  func() error { return usableAfter(unix.RLIMIT_NPROC) },
}

func TestMain(m *testing.M) {
	host := hosts[os.Getenv(hostVariable)]
	if host == nil {
		os.Exit(fake.Run(m))
	}
	if err := errors.Join(becomeNobody(), host()); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

func becomeNobody() error {
	if os.Getuid() != 0 {
		return nil
	}
	// Without this, only root may read the memory of a process that was root.
	return errors.Join(syscall.Setgid(65534), syscall.Setuid(65534), unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0))
}

// runHost runs a host, which must succeed.
func runHost(t *testing.T, kind string) {
	t.Helper()
	if _, err := Usable(); err != nil {
		t.Skip(err)
	}
	exe, err := os.Executable()
	require.NoError(t, err)
	host := exec.Command(exe)
	host.Env = append(os.Environ(), hostVariable+"="+kind)
	output, err := host.CombinedOutput()
	require.NoError(t, err, "%s", output)
}

// shell starts a script. Files in attr are those of the host.
func shell(rules []Rule, script string) (*os.Process, error) {
	attr := &os.ProcAttr{
		Dir: "/", Env: []string{"PATH=/usr/bin:/bin"}, Files: []*os.File{os.Stdin, os.Stdout, os.Stderr},
		Sys: &syscall.SysProcAttr{},
	}
	args := []string{"sh", "-c", script}
	if rules == nil {
		return os.StartProcess("/bin/sh", args, attr)
	}
	return Start("/bin/sh", args, attr, rules, nil)
}

func exitCode(p *os.Process, err error) (int, error) {
	if err != nil {
		return 0, err
	}
	state, err := p.Wait()
	if err != nil {
		return 0, err
	}
	return state.ExitCode(), nil
}

// attack is a script that tries to reach its host. Its exit code has a bit for each success: 1 environment, 2 reading of
// memory, 4 writing of memory, 8 signal.
var attack = fmt.Sprintf(`h=%d s=0
[ -n "$(head -c 1 /proc/$h/environ 2>/dev/null)" ] && s=$((s|1))
true 2>/dev/null </proc/$h/mem && s=$((s|2))
true 2>/dev/null >>/proc/$h/mem && s=$((s|4))
kill -0 $h 2>/dev/null && s=$((s|8))
exit $s`, os.Getpid())

// manyStarts starts attackers from several goroutines. None may succeed, and this process must stay as it was.
func manyStarts() error {
	const starts, parallel = 1000, 8
	if code, err := exitCode(shell(nil, attack)); err != nil || code&9 != 9 {
		return fmt.Errorf("an attacker that is not confined exits with %d, %w", code, err)
	}
	rules := append([]Rule{{Path: "/proc", Access: Read | Write}}, system...)
	var wait sync.WaitGroup
	failed := make(chan error, parallel)
	for range parallel {
		wait.Go(func() {
			for range starts / parallel {
				if code, err := exitCode(shell(rules, attack)); err != nil || code != 0 {
					failed <- fmt.Errorf("an attacker exits with %d, %w", code, err)
					return
				}
			}
		})
	}
	wait.Wait()
	close(failed)
	return errors.Join(<-failed, unrestricted())
}

// unrestricted returns an error if a thread of this process is restricted, or if there are many threads.
func unrestricted() error {
	tasks, err := filepath.Glob("/proc/self/task/*/status")
	if err != nil || len(tasks) > 50 {
		return fmt.Errorf("%d threads, %w", len(tasks), err)
	}
	for _, task := range tasks {
		status, err := os.ReadFile(task)
		if err == nil && !strings.Contains(string(status), "NoNewPrivs:\t0\n") {
			return fmt.Errorf("a thread is restricted:\n%s", status)
		}
	}
	_, err = os.ReadFile("/etc/passwd") // no rule grants it
	return err
}

// atProcessLimit starts programs until the system refuses another process.
func atProcessLimit() error {
	runtime.GOMAXPROCS(2)
	var mu sync.Mutex
	var running []*os.Process
	var refused int
	limit := unix.Rlimit{Cur: 40, Max: 40}
	if err := unix.Setrlimit(unix.RLIMIT_NPROC, &limit); err != nil {
		return err
	}
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			for range 20 {
				p, err := shell(system, "kill -STOP $$")
				mu.Lock()
				if err != nil {
					refused++
				} else {
					running = append(running, p)
				}
				mu.Unlock()
			}
		})
	}
	wait.Wait()
	for _, p := range running {
		_ = p.Kill() // it has not been reaped
		if _, err := p.Wait(); err != nil {
			return err
		}
	}
	if refused == 0 || len(running) == 0 {
		return fmt.Errorf("%d starts, %d refused", len(running), refused)
	}
	_, err := exitCode(shell(system, "exit 0"))
	return errors.Join(err, unrestricted())
}

// unusable reports whether a system without this call is recognized as one that cannot confine.
func unusable(call uint32) error {
	if err := seccomptest.Deny(call, unix.EPERM); err != nil {
		return err
	}
	version, err := Usable()
	if _, ok := errors.AsType[*UnsupportedError](err); !ok {
		return fmt.Errorf("usable: version %d, %w", version, err)
	}
	return refused()
}

// usableAfter reports whether Usable finds a temporary error while a limit of this process is 0, and none after that.
func usableAfter(resource int) error {
	var limit unix.Rlimit
	if err := unix.Getrlimit(resource, &limit); err != nil {
		return err
	}
	if err := unix.Setrlimit(resource, &unix.Rlimit{Cur: 0, Max: limit.Max}); err != nil {
		return err
	}
	version, failed := Usable()
	if err := unix.Setrlimit(resource, &limit); err != nil {
		return err
	}
	if _, ok := errors.AsType[*UnsupportedError](failed); ok || failed == nil {
		return fmt.Errorf("at the limit: version %d, %w", version, failed)
	}
	_, err := Usable()
	return err
}

func refusedWithout(call uint32) error {
	if err := seccomptest.Deny(call, unix.EPERM); err != nil {
		return err
	}
	return refused()
}

// refused returns an error if a program starts in spite of its restriction.
func refused() error {
	_, err := shell(system, "exit 0")
	if _, ok := errors.AsType[*RefusedError](err); !ok {
		return fmt.Errorf("the program was started: %w", err)
	}
	return nil
}

func startsWithout(call uint32) error {
	if err := seccomptest.Deny(call, unix.EPERM); err != nil {
		return err
	}
	code, err := exitCode(shell(system, "cat /etc/passwd 2>/dev/null || exit 3"))
	if err != nil || code != 3 {
		return fmt.Errorf("exit code %d, %w", code, err)
	}
	return nil
}

func TestStartManyPrograms(t *testing.T)         { runHost(t, "starts") }
func TestStartAtTheProcessLimit(t *testing.T)    { runHost(t, "limit") }
func TestWithoutRulesets(t *testing.T)           { runHost(t, "create") }
func TestWithoutRules(t *testing.T)              { runHost(t, "rule") }
func TestWithoutRestriction(t *testing.T)        { runHost(t, "self") }
func TestStartWhereTracingIsDenied(t *testing.T) { runHost(t, "ptrace") }
func TestUsableAtTheFileLimit(t *testing.T)      { runHost(t, "files") }
func TestUsableAtTheProcessLimit(t *testing.T)   { runHost(t, "procs") }
