package clitest

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/clitest/internal/dialect"
)

// The scenarios below are common situations. A scenario with a spec prints the output of the CLI in the first mode of
// Spec.Outputs. It is a recorded output for the built-in specs, otherwise an output that the event rules accept. For
// another output mode, pass a copy of the spec with only that mode. It also answers --version and the status command
// of the spec. If no output satisfies the rules of a spec, the fake reports that on stderr and exits with code 70;
// TestSpec explains the reason. The scenarios do not support the live mode.

// Answer is a CLI that answers with the text.
func Answer(spec clispec.Spec, text string) Scenario {
	return speak(spec, clispec.LoginAuthenticated, func(v printer) ([]Step, error) {
		return played(v.answer(text))
	})
}

// LoggedOut is a CLI without a login: a call fails as unauthenticated.
func LoggedOut(spec clispec.Spec) Scenario {
	return speak(spec, clispec.LoginInstalled, func(v printer) ([]Step, error) {
		return played(v.failure("logged_out", call.ReasonUnauthenticated, "Not logged in. Please log in."))
	})
}

// LimitUntil is a CLI whose plan is exhausted until end: a call fails as usage_limit, with a RetryAfter of that time,
// to the minute. end must be in the future and within 8 days; the library ignores later times.
func LimitUntil(spec clispec.Spec, end time.Time) Scenario {
	return speak(spec, clispec.LoginAuthenticated, func(v printer) ([]Step, error) { return played(v.limit(end)) })
}

// OverloadedThenOK is a CLI whose service is overloaded at the first start and has recovered at the second start, which
// answers with the text. A Provider retries such a failure, so a call returns the answer after one failed attempt.
func OverloadedThenOK(spec clispec.Spec, text string) Scenario {
	s := Answer(spec, text)
	first := speak(spec, clispec.LoginAuthenticated, func(v printer) ([]Step, error) {
		return played(v.failure("overloaded", call.ReasonOverloaded, "API Error: 529 Overloaded"))
	})
	s.Cases = append(s.Cases, Case{Once: true, Steps: first.Steps})
	return s
}

// ExitZeroWithError is a CLI that reports a failure with the message but exits with code 0. The call must fail.
func ExitZeroWithError(spec clispec.Spec, message string) Scenario {
	return speak(spec, clispec.LoginAuthenticated, func(v printer) ([]Step, error) {
		s := v.Complain(message)
		s.Exit = 0
		return play(s), nil
	})
}

// Truncated is a CLI that is killed in the middle of the last line of its answer, as when memory runs out.
func Truncated(spec clispec.Spec, text string) Scenario {
	return speak(spec, clispec.LoginAuthenticated, func(v printer) ([]Step, error) {
		s, err := v.answer(text)
		out := s.Stdout()
		last := strings.LastIndexByte(strings.TrimSuffix(out, "\n"), '\n') + 1
		return []Step{{ReadStdin: true}, {Stdout: out[:(last+len(out))/2]}, {Kill: "KILL"}}, err
	})
}

// Linger is a CLI that answers with the text and does not exit. The call returns the answer shortly after the last
// event. In text mode, which has no such event, the call times out.
func Linger(spec clispec.Spec, text string) Scenario {
	s := Answer(spec, text)
	if last := len(s.Steps) - 1; last >= 0 && s.Steps[last].Exit != nil && *s.Steps[last].Exit == 0 {
		s.Steps[last] = Step{Hang: true}
	}
	return s
}

// Grandchild is a CLI that answers with the text and leaves a process behind. That process has its own session, keeps
// standard output open and ignores signals. It must not survive the call; see [Survivors].
func Grandchild(spec clispec.Spec, text string) Scenario {
	s := Answer(spec, text)
	s.Steps = append([]Step{{Spawn: stubborn()}}, s.Steps...)
	return s
}

// stubborn returns a process that is detached from its parent and ignores signals.
func stubborn() *Spawn {
	return &Spawn{Setsid: true, HoldStdout: true, Steps: []Step{{Ignore: []string{"INT", "TERM"}}, {Hang: true}}}
}

// Hang is a CLI that reads its input, prints nothing and never exits: a call fails as timeout.
func Hang() Scenario { return Scenario{Steps: []Step{{ReadStdin: true}, {Hang: true}}} }

// Flood is a CLI that prints size bytes of meaningless output and then hangs: if size exceeds Config.MaxOutput, a call
// fails as output_limit.
func Flood(size int64) Scenario {
	return Scenario{Steps: []Step{{ReadStdin: true}, {FloodStdout: size}, {Hang: true}}}
}

// Garbage is a CLI that prints text that no rule can read, such as half an object, an HTML page and control
// characters. It exits with code 1, and a call fails as exit.
func Garbage() Scenario {
	const half, page = "\x00\x1b[2J\ufffd{\"type\":\n[[[[{\"a\":[}\n\r\x07]]\n", "<!DOCTYPE html><title>\u202e</title>\n"
	return Scenario{Steps: []Step{{ReadStdin: true}, {Stdout: half + page + "{\"type\":\"res"}, Exit(1)}}
}

// printer creates output of a spec's CLI.
type printer struct {
	*dialect.Dialect
	spec clispec.Spec
}

// speak returns the scenario of a CLI with a login state.
func speak(spec clispec.Spec, login clispec.LoginState, steps func(printer) ([]Step, error)) Scenario {
	if err := spec.Validate(); err != nil {
		return mute(err)
	}
	v := printer{dialect.New(&spec, spec.OutputModes()[0]), spec}
	list, err := steps(v)
	if err != nil {
		return mute(fmt.Errorf("spec %q: %w", spec.Name, err))
	}
	version := cmp.Or(spec.CheckedWith, "1.0.0")
	s := Scenario{Steps: list, Cases: []Case{{Args: []string{"--version"}, Steps: []Step{{Stdout: version + "\n"}}}}}
	if status, ok := v.Status(login); ok && len(spec.Login.Status.Args) > 0 {
		s.Cases = append(s.Cases, Case{Args: spec.Login.Status.Args, Steps: play(status)})
	}
	return s
}

// mute returns a fake that only prints why its scenario cannot be created.
func mute(err error) Scenario {
	return Scenario{Steps: []Step{{Stderr: "clitest: " + err.Error() + "\n"}, Exit(70)}}
}

// play returns the steps of a fake that follows a script.
func play(s dialect.Script) []Step {
	steps := []Step{{ReadStdin: true}}
	if s.Stderr != "" {
		steps = append(steps, Step{Stderr: s.Stderr})
	}
	if out := s.Stdout(); out != "" {
		steps = append(steps, Step{Stdout: out})
	}
	return append(steps, Exit(s.Exit))
}

func played(s dialect.Script, err error) ([]Step, error) { return play(s), err }
