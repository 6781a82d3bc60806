package doctor

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/login"
	"github.com/clichain/clichain/internal/machine"
	"github.com/clichain/clichain/internal/plaintext"
	"github.com/clichain/clichain/runs"
)

// probeTime limits all probes together, unless the first answers show that this machine is slow. Some CLIs take seconds
// to start.
const probeTime = 4 * time.Second

// probeAll gets the version and the login of each CLI that can be started.
func (d *examination) probeAll(ctx context.Context, backends []subject, found []Diagnosis) {
	ctx, bound := newPatience(ctx, cmp.Or(d.cfg.ProbeTimeout, probeTime))
	defer bound.stop()
	versions := machine.OpenVersions(d.cfg.CacheDir)
	var running sync.WaitGroup
	for i, b := range backends {
		p := b.provider
		if p == nil || !found[i].Ready() || p.Config().Container != nil {
			continue
		}
		one := probe{p, &found[i], versions, bound}
		running.Go(func() {
			if one.version(ctx) {
				one.login(ctx)
			}
		})
	}
	running.Wait()
	versions.Save(context.WithoutCancel(ctx))
}

// probe runs the commands of one CLI.
type probe struct {
	*clichain.Provider
	found    *Diagnosis
	versions *machine.Versions
	bound    *patience
}

// ask runs a command of the CLI. An answer extends the limit of the other CLIs.
func (p probe) ask(ctx context.Context, args []string) (runs.Output, error) {
	out, err := p.Probe(ctx, args, p.bound.most)
	if err == nil {
		p.bound.answered()
	}
	return out, err
}

// version reports whether the program has printed its version, so that further commands make sense.
func (p probe) version(ctx context.Context) bool {
	found := p.found
	known := p.versions.Get(found.Path)
	if known == "" {
		out, err := p.ask(ctx, []string{"--version"})
		text := plaintext.Escapes().ReplaceAllString(out.Stdout, "")
		version, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
		be := call.AsError(found.Name, err)
		switch {
		case err != nil && be.Reason == call.ReasonTimeout:
			found.slow(p.bound.bound())
			return false
		case err != nil:
			found.fail(be.Reason, "--version: "+be.Detail())
			return false
		case out.ExitCode != 0 || version == "":
			said := fmt.Sprintf("--version: exit status %d: %s", out.ExitCode, plaintext.LastLine(out.Stderr))
			found.fail(call.ReasonExit, strings.TrimSuffix(said, ": "))
			return false
		}
		known = firstRunes(plaintext.OneLine(version), 60)
		p.versions.Put(found.Path, known)
	}
	found.Version = known
	return true
}

func (d *Diagnosis) fail(code call.Reason, message string) {
	hint := "run `" + d.Path + " --version` to see what is wrong"
	d.block(&call.Error{Backend: d.Name, Reason: code, Message: message, ExitCode: -1, Hint: hint})
}

// slow adds a remark and not a problem, because a call has more time than a probe.
func (d *Diagnosis) slow(bound time.Duration) {
	message := fmt.Sprintf("--version did not answer within %v: it is slow or hangs", bound.Round(100*time.Millisecond))
	d.remark(CodeSlow, message, "run `"+d.Path+" --version` to see which")
}

func firstRunes(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n])
	}
	return s
}

// login runs the status command of the CLI. A positive result always counts, a negative one only if the command
// covers all ways to log in.
func (p probe) login(ctx context.Context) {
	found, spec := p.found, p.Spec()
	rule := spec.Login.Status
	if len(rule.Args) == 0 {
		return
	}
	command := fmt.Sprintf("`%s %s`", filepath.Base(spec.Binary), strings.Join(rule.Args, " "))
	out, err := p.ask(ctx, rule.Args)
	if err != nil {
		found.remark("no_status", command+": "+call.AsError(found.Name, err).Detail(), "")
		return
	}
	sign := login.Sign(rule, out.Stdout, out.Stderr, out.ExitCode)
	switch {
	case out.Signal != "" || sign.Login == "":
	case sign.Login == clispec.LoginAuthenticated:
		found.Login, found.Billing = clispec.LoginAuthenticated, cmp.Or(sign.Billing, found.Billing)
		found.Evidence = strings.TrimPrefix(found.Evidence+"; "+command, "; ")
	case rule.Whole && found.Login != clispec.LoginInstalled:
		found.Login, found.Evidence = clispec.LoginInstalled, command
		loggedOut := call.Errorf(call.ReasonUnauthenticated, "", "%s reports that it is not logged in", command)
		loggedOut.Hint = spec.Hints[call.ReasonUnauthenticated]
		found.block(loggedOut)
	}
}
