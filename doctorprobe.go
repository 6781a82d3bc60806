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

	"github.com/clichain/clichain/internal/proc"
)

// probeTime bounds the probes together. Some CLIs need seconds to start.
const probeTime = 4 * time.Second

// probeAll asks every CLI that could be started for its version and its login.
func (d *doctor) probeAll(ctx context.Context, backends []patient, found []Diagnosis) {
	limit := cmp.Or(d.cfg.ProbeTimeout, probeTime)
	ctx, cancel := context.WithTimeoutCause(ctx, limit, &stopError{ReasonTimeout, limit})
	defer cancel()
	versions := d.openVersions()
	var running sync.WaitGroup
	for i, b := range backends {
		if p, ok := b.Backend.(*Provider); ok && found[i].Ready() && p.cfg.Container == nil {
			running.Go(func() {
				if p.probeVersion(ctx, &found[i], versions, limit) {
					p.probeLogin(ctx, &found[i], limit)
				}
			})
		}
	}
	running.Wait()
	versions.save()
}

// probeVersion reports whether the program works at all.
func (p *Provider) probeVersion(ctx context.Context, found *Diagnosis, versions *versionCache, limit time.Duration) bool {
	found.Version = versions.get(found.Path)
	if found.Version == "" {
		result, err := p.aside(ctx, found.Path, []string{"--version"}, limit)
		version, _, _ := strings.Cut(strings.TrimSpace(escapes.ReplaceAllString(result.Stdout.Text(), "")), "\n")
		switch {
		case err != nil && err.Reason == ReasonTimeout:
			found.fail(ReasonTimeout, fmt.Sprintf("--version gave no answer in %v", limit))
			return false
		case err != nil:
			found.fail(err.Reason, "--version: "+err.detail())
			return false
		case result.ExitCode != 0 || version == "":
			found.fail(ReasonExit, strings.TrimSuffix(fmt.Sprintf("--version: exit status %d: %s", result.ExitCode, lastLine(result.Stderr.Text())), ": "))
			return false
		}
		found.Version = firstRunes(oneLine(version), 60)
		versions.put(found.Path, found.Version)
	}
	if older(found.Version, p.spec.CheckedWith) {
		found.remark("old_version", fmt.Sprintf("%s is older than %s, with which this was checked", found.Version, p.spec.CheckedWith), p.spec.Hints[ReasonNotInstalled])
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
func (p *Provider) probeLogin(ctx context.Context, found *Diagnosis, limit time.Duration) {
	rule := p.spec.Login.Status
	if len(rule.Args) == 0 {
		return
	}
	command := fmt.Sprintf("`%s %s`", p.name, strings.Join(rule.Args, " "))
	result, err := p.aside(ctx, found.Path, rule.Args, limit)
	if err != nil {
		found.remark("no_status", command+": "+err.detail(), "")
		return
	}
	sign, ok := rule.read(result)
	switch {
	case !ok:
	case sign.Login == LoginAuthenticated:
		found.Login, found.Billing = LoginAuthenticated, cmp.Or(sign.Billing, found.Billing)
		found.Evidence = strings.TrimPrefix(found.Evidence+"; "+command, "; ")
	case rule.Whole && found.Login != LoginInstalled:
		found.Login, found.Evidence = LoginInstalled, command
		found.block(p.signed(&BackendError{Reason: ReasonUnauthenticated, Message: command + " says that it is not logged in", ExitCode: -1}))
	}
}

// read is the first sign that holds.
func (r StatusRule) read(result proc.Result) (StatusSign, bool) {
	text := escapes.ReplaceAllString(result.Stdout.Text()+"\n"+result.Stderr.Text(), "")
	docs := documentObjects([]byte(result.Stdout.Text()))
	for _, sign := range r.Signs {
		if result.Signal != "" || result.ExitCode != sign.Exit || !regexp.MustCompile(`(?m)`+sign.Pattern).MatchString(text) {
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
