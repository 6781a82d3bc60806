package clichain

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tidwall/gjson"
)

// probeTime bounds the probes together. Some CLIs need seconds to start.
const probeTime = 4 * time.Second

// probeAll asks every CLI that could be started for its version and its login.
func (d *doctor) probeAll(ctx context.Context, backends []subject, found []Diagnosis) {
	limit := cmp.Or(d.cfg.ProbeTimeout, probeTime)
	ctx, cancel := context.WithTimeoutCause(ctx, limit, &stopError{ReasonTimeout, limit})
	defer cancel()
	versions := openVersions(d.cfg.CacheDir)
	var running sync.WaitGroup
	for i, b := range backends {
		if p, ok := b.Backend.(*Provider); ok && found[i].Ready() && p.Config().Container == nil {
			running.Go(func() {
				if probeVersion(ctx, p, &found[i], versions, limit) {
					probeLogin(ctx, p, &found[i], limit)
				}
			})
		}
	}
	running.Wait()
	versions.Save(context.WithoutCancel(ctx))
}

// probeVersion reports whether the program works at all.
func probeVersion(ctx context.Context, p *Provider, found *Diagnosis, versions *versionCache, limit time.Duration) bool {
	found.Version = versions.Get(found.Path)
	if found.Version == "" {
		out, err := p.Probe(ctx, []string{"--version"}, limit)
		version, _, _ := strings.Cut(strings.TrimSpace(escapes.ReplaceAllString(out.Stdout, "")), "\n")
		be := asBackendError(found.Name, err)
		switch {
		case err != nil && be.Reason == ReasonTimeout:
			found.fail(ReasonTimeout, fmt.Sprintf("--version gave no answer in %v", limit))
			return false
		case err != nil:
			found.fail(be.Reason, "--version: "+be.Detail())
			return false
		case out.ExitCode != 0 || version == "":
			said := fmt.Sprintf("--version: exit status %d: %s", out.ExitCode, lastLine(out.Stderr))
			found.fail(ReasonExit, strings.TrimSuffix(said, ": "))
			return false
		}
		found.Version = firstRunes(oneLine(version), 60)
		versions.Put(found.Path, found.Version)
	}
	if spec := p.Spec(); older(found.Version, spec.CheckedWith) {
		message := fmt.Sprintf("%s is older than %s, with which this was checked", found.Version, spec.CheckedWith)
		found.remark("old_version", message, spec.Hints[ReasonNotInstalled])
	}
	return true
}

func (d *Diagnosis) fail(code Reason, message string) {
	d.block(&BackendError{Backend: d.Name, Reason: code, Message: message, ExitCode: -1, Hint: "run `" + d.Path + " --version` to see what is wrong"})
}

func firstRunes(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n])
	}
	return s
}

// probeLogin asks the CLI itself. Its "yes" counts, its "no" only where it
// knows all the ways in.
func probeLogin(ctx context.Context, p *Provider, found *Diagnosis, limit time.Duration) {
	spec := p.Spec()
	rule := spec.Login.Status
	if len(rule.Args) == 0 {
		return
	}
	command := fmt.Sprintf("`%s %s`", spec.Name, strings.Join(rule.Args, " "))
	out, err := p.Probe(ctx, rule.Args, limit)
	if err != nil {
		found.remark("no_status", command+": "+asBackendError(found.Name, err).Detail(), "")
		return
	}
	sign, ok := signIn(rule, out)
	switch {
	case !ok:
	case sign.Login == LoginAuthenticated:
		found.Login, found.Billing = LoginAuthenticated, cmp.Or(sign.Billing, found.Billing)
		found.Evidence = strings.TrimPrefix(found.Evidence+"; "+command, "; ")
	case rule.Whole && found.Login != LoginInstalled:
		found.Login, found.Evidence = LoginInstalled, command
		loggedOut := errorf(ReasonUnauthenticated, "", "%s says that it is not logged in", command)
		loggedOut.Hint = spec.Hints[ReasonUnauthenticated]
		found.block(loggedOut)
	}
}

// signIn is the first sign of the rule that holds.
func signIn(r StatusRule, out Output) (StatusSign, bool) {
	text := escapes.ReplaceAllString(out.Stdout+"\n"+out.Stderr, "")
	docs := documentObjects([]byte(out.Stdout))
	for _, sign := range r.Signs {
		if out.Signal != "" || out.ExitCode != sign.Exit || !regexp.MustCompile(`(?m)`+sign.Pattern).MatchString(text) {
			continue
		}
		holds := true
		for path, pattern := range sign.JSON {
			re := wholeValue(pattern)
			holds = holds && slices.ContainsFunc(docs, func(doc gjson.Result) bool { return re.MatchString(doc.Get(path).String()) })
		}
		if holds {
			return sign, true
		}
	}
	return StatusSign{}, false
}
