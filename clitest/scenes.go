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

// The scenarios below are what users meet. Those that take a spec speak as its CLI does in the first of its
// Spec.Outputs: for the built-in specs as was recorded, for any other as its event rules look for. For another output
// mode, give them a copy of the spec that has that one alone. They answer --version and the status command of the spec
// as well. Where the rules of a spec cannot be met, the fake says so on stderr and exits with status 70; TestSpec
// tells why. They know nothing of the live mode.

// Answer is a CLI that answers with the text.
func Answer(spec clispec.Spec, text string) Scenario {
	return speak(spec, clispec.LoginAuthenticated, func(v voice) ([]Step, error) {
		return played(v.answer(text))
	})
}

// LoggedOut is a CLI that nobody is logged in to: a call fails as unauthenticated.
func LoggedOut(spec clispec.Spec) Scenario {
	return speak(spec, clispec.LoginInstalled, func(v voice) ([]Step, error) {
		return played(v.failure("logged_out", call.ReasonUnauthenticated, "Not logged in. Please log in."))
	})
}

// LimitUntil is a CLI whose plan is used up until end: a call fails as usage_limit, with a RetryAfter of that time, to
// the minute. The end is to be in the future, and within 8 days: no later one is believed.
func LimitUntil(spec clispec.Spec, end time.Time) Scenario {
	return speak(spec, clispec.LoginAuthenticated, func(v voice) ([]Step, error) { return played(v.limit(end)) })
}

// OverloadedThenOK is a CLI whose service is overloaded at the first start and has recovered at the next, which answers
// with the text. A Provider tries such a failure once more, so that a call has the answer and one attempt before it.
func OverloadedThenOK(spec clispec.Spec, text string) Scenario {
	s := Answer(spec, text)
	first := speak(spec, clispec.LoginAuthenticated, func(v voice) ([]Step, error) {
		return played(v.failure("overloaded", call.ReasonOverloaded, "API Error: 529 Overloaded"))
	})
	s.Cases = append(s.Cases, Case{Once: true, Steps: first.Steps})
	return s
}

// ExitZeroWithError is a CLI that reports a failure with the message and exits with status 0 all the same. Such a call
// has no answer.
func ExitZeroWithError(spec clispec.Spec, message string) Scenario {
	return speak(spec, clispec.LoginAuthenticated, func(v voice) ([]Step, error) {
		s := v.Complain(message)
		s.Exit = 0
		return play(s), nil
	})
}

// Truncated is a CLI that is killed in the middle of the last line of its answer, as when memory runs out.
func Truncated(spec clispec.Spec, text string) Scenario {
	return speak(spec, clispec.LoginAuthenticated, func(v voice) ([]Step, error) {
		s, err := v.answer(text)
		out := s.Stdout()
		last := strings.LastIndexByte(strings.TrimSuffix(out, "\n"), '\n') + 1
		return []Step{{ReadStdin: true}, {Stdout: out[:(last+len(out))/2]}, {Kill: "KILL"}}, err
	})
}

// Linger is a CLI that answers with the text and does not exit. The call has its answer a moment after the last event;
// one in text mode, which has no such event, has none before its timeout.
func Linger(spec clispec.Spec, text string) Scenario {
	s := Answer(spec, text)
	if last := len(s.Steps) - 1; last >= 0 && s.Steps[last].Exit != nil && *s.Steps[last].Exit == 0 {
		s.Steps[last] = Step{Hang: true}
	}
	return s
}

// Grandchild is a CLI that answers with the text and leaves a process behind, which has a session of its own, holds
// standard output open, and heeds no signal. Nothing of it must be left after the call; see [Survivors].
func Grandchild(spec clispec.Spec, text string) Scenario {
	s := Answer(spec, text)
	s.Steps = append([]Step{{Spawn: stubborn()}}, s.Steps...)
	return s
}

// stubborn is a process that has got away from its parent and heeds no signal.
func stubborn() *Spawn {
	return &Spawn{Setsid: true, HoldStdout: true, Steps: []Step{{Ignore: []string{"INT", "TERM"}}, {Hang: true}}}
}

// Hang is a CLI that reads its input, says nothing and never ends: a call fails as timeout.
func Hang() Scenario { return Scenario{Steps: []Step{{ReadStdin: true}, {Hang: true}}} }

// Flood is a CLI that prints size bytes of no meaning and then hangs: over Config.MaxOutput a call fails as
// output_limit.
func Flood(size int64) Scenario {
	return Scenario{Steps: []Step{{ReadStdin: true}, {FloodStdout: size}, {Hang: true}}}
}

// Garbage is a CLI that prints what no rule can read, such as half an object, a page of HTML and control characters,
// and exits with status 1: a call fails as exit.
func Garbage() Scenario {
	const half, page = "\x00\x1b[2J\ufffd{\"type\":\n[[[[{\"a\":[}\n\r\x07]]\n", "<!DOCTYPE html><title>\u202e</title>\n"
	return Scenario{Steps: []Step{{ReadStdin: true}, {Stdout: half + page + "{\"type\":\"res"}, Exit(1)}}
}

// voice speaks for the CLI of a spec.
type voice struct {
	*dialect.Dialect
	spec clispec.Spec
}

// speak makes the scenario of a CLI in a state of its login.
func speak(spec clispec.Spec, login clispec.LoginState, steps func(voice) ([]Step, error)) Scenario {
	if err := spec.Validate(); err != nil {
		return mute(err)
	}
	v := voice{dialect.New(&spec, spec.OutputModes()[0]), spec}
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

// mute is a fake that can only say why it cannot speak.
func mute(err error) Scenario {
	return Scenario{Steps: []Step{{Stderr: "clitest: " + err.Error() + "\n"}, Exit(70)}}
}

// play is what a fake does that follows a script.
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
