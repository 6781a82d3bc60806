// Package login determines, from environment variables and files alone, whether a CLI is logged in and which
// account would pay. It also serializes calls that renew the same credential. Everything it knows about a CLI
// comes from its spec. It starts no program and reveals no secret.
package login

import (
	"bytes"
	"cmp"
	"hash/maphash"
	"io"
	"os"
	"os/user"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/grammar"
	"github.com/clichain/clichain/internal/localfile"
	"github.com/clichain/clichain/internal/pattern"
	"github.com/clichain/clichain/internal/plaintext"
	"github.com/clichain/clichain/internal/semaphore"
)

// Login is what is known about a backend's login before a call.
type Login struct {
	State     clispec.LoginState
	Evidence  string       // the name of an environment variable or a file, never a value
	Billing   call.Billing // which account would pay
	Doubt     string       // the evidence that makes the payer uncertain
	Expired   bool         // the credential has expired and cannot be renewed
	Unproven  bool         // the credential exists but may be refused
	renewable credential   // the credential in use
	local     bool         // some of the evidence is in the working directory
	trace     uint64       // a digest of all evidence, for the cache of Settle
}

// Sure reports whether there is a credential that the CLI would use.
func (l Login) Sure() bool { return l.State == clispec.LoginAuthenticated || l.Unproven }

// Prober determines how one CLI is logged in. The zero value knows no way to log in. It is safe for concurrent
// use.
type Prober struct {
	// Sources map the names that the CLI uses for the source of its key to accounts.
	Sources []keySource

	ways  []compiledWay
	files factReader

	mu   sync.Mutex // guards the cached answer
	last Login
	from question
	when time.Time

	status  clispec.StatusRule
	asking  semaphore.Semaphore // guards settled
	settled map[uint64]settled
}

// question is the key of the cached answer. It contains no value of an environment variable.
type question struct {
	program, dir, model string
	environ             uint64
}

// loginTTL limits how long a changed file goes unnoticed. The login of a backend that is not logged in is
// examined at each call.
const loginTTL = time.Second

type compiledWay struct {
	clispec.LoginWay
	files []compiledFact
	local bool // one of the files is in the working directory
}

type keySource struct {
	re      *regexp.Regexp
	billing call.Billing
}

// New compiles the rules of a spec.
func New(rules clispec.LoginRules) *Prober {
	s := &Prober{status: rules.Status, asking: make(semaphore.Semaphore, 1), settled: map[uint64]settled{}}
	for _, way := range rules.Ways {
		c := compiledWay{LoginWay: way}
		for _, f := range way.Files {
			fact := compileFact(f)
			c.files, c.local = append(c.files, fact), c.local || fact.local
		}
		s.ways = append(s.ways, c)
	}
	for pattern, billing := range rules.KeySources {
		s.Sources = append(s.Sources, keySource{plaintext.Whole(pattern), billing})
	}
	return s
}

// State returns what is known about the login of a program that runs in dir ("" means the directory of this
// process) and uses the model. environ is the environment of this process, and vars returns the part of it that
// the program receives. State calls vars only if its last answer is more than a second old or was for another
// question.
func (s *Prober) State(program, dir, model string, environ []string, vars func() map[string]string) Login {
	from := question{program, dir, model, digest(environ)}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.from == from && s.last.State != clispec.LoginInstalled && time.Since(s.when) < loginTTL {
		return s.last
	}
	s.from, s.last, s.when = from, s.look(PlaceOf(vars(), dir), time.Now()), time.Now()
	from.dir = "" // the status command does not run in the working directory
	s.last.trace = maphash.Comparable(digestSeed, tracedQuestion{from, s.last.trace})
	return s.last
}

var digestSeed = maphash.MakeSeed()

func digest(list []string) uint64 {
	var h maphash.Hash
	h.SetSeed(digestSeed)
	for _, s := range list {
		_, _ = h.WriteString(s) // never fails
		_ = h.WriteByte(0)
	}
	return h.Sum64()
}

// PlaceOf returns the environment variables, home and working directory that the CLI will see. On Windows it
// converts the names of the variables to upper case.
func PlaceOf(vars map[string]string, dir string) grammar.Place {
	at := grammar.Place{Vars: vars, Home: vars["HOME"], Dir: dir}
	if runtime.GOOS == "windows" {
		at.Vars = map[string]string{}
		for name, value := range vars {
			at.Vars[strings.ToUpper(name)] = value
		}
		at.Home = at.Vars["USERPROFILE"]
	}
	if at.Home == "" {
		if u, err := user.Current(); err == nil {
			at.Home = u.HomeDir
		}
	}
	if abs, err := filepath.Abs(dir); err == nil {
		at.Dir = abs
	}
	return at
}

// look examines the ways to log in, in order, up to the first with a certain credential. If an earlier way is
// possible and another account pays for it, the payer is unknown.
func (s *Prober) look(at grammar.Place, now time.Time) Login {
	l := Login{State: clispec.LoginInstalled}
	if len(s.ways) == 0 {
		l.State = clispec.LoginUnknown
	}
	own := s.ownFiles(at)
	for i := range s.ways {
		way := &s.ways[i]
		found, evidence := s.holds(way, at, own, now)
		if found.known == absent {
			continue
		}
		l.local = l.local || way.local
		l.trace = maphash.Comparable(digestSeed, sighting{l.trace, i, evidence, found.stamp})
		switch {
		case l.State == clispec.LoginInstalled: // the first credential
			l.State, l.Evidence, l.Billing = clispec.LoginUnknown, evidence, way.Billing
			l.Expired = found.expired(now) && !found.renews
		case l.Billing != way.Billing:
			l.Doubt, l.Billing = cmp.Or(l.Doubt, l.Evidence), call.BillingUnknown
		}
		if found.known == present {
			l.State, l.Evidence, l.renewable, l.Expired = clispec.LoginAuthenticated, evidence, found, false
			if l.Unproven = way.Unproven; l.Unproven {
				l.State = clispec.LoginUnknown
			}
			return l
		}
	}
	return l
}

// tracedQuestion is a question with the digest of the evidence for its answer.
type tracedQuestion struct {
	question
	trace uint64
}

// sighting is one step of the digest of all evidence.
type sighting struct {
	before   uint64
	way      int
	evidence string
	stamp    localfile.Stamp
}

// ownFiles returns the files outside the working directory that may contain a login.
func (s *Prober) ownFiles(at grammar.Place) (paths []string) {
	for f := range s.facts {
		if !f.local {
			more, _ := f.template.Paths(at)
			paths = append(paths, more...)
		}
	}
	return paths
}

// holds returns the credential of one way to log in, and the evidence for it.
func (s *Prober) holds(
	way *compiledWay, at grammar.Place, own []string, now time.Time,
) (found credential, evidence string) {
	if len(way.OS) > 0 && !slices.Contains(way.OS, runtime.GOOS) {
		return found, ""
	}
	found.known, evidence = present, "nothing that can be seen"
	for _, list := range [][]string{way.With, way.Env} {
		if len(list) == 0 {
			continue
		}
		name := grammar.FirstSet(list, at.Vars)
		if name == "" {
			return credential{}, ""
		}
		evidence = name
	}
	for i := range way.files {
		told := s.files.look(&way.files[i], at, own)
		if told.known == absent {
			return credential{}, ""
		}
		if told.expired(now) && !told.renews {
			told.known = maybe
		}
		evidence, told.known = told.path, min(told.known, found.known)
		found = told
	}
	if len(way.OS) > 0 && len(way.files) == 0 {
		evidence = "the keychain of this system"
	}
	if way.Unsure {
		found.known = min(found.known, maybe)
	}
	return found, evidence
}

var shells = pattern.Of(`^#!.*\b(sh|bash|dash|zsh|ksh|fish)\b`)

// IsShellScript reports whether a program is a script, which may set environment variables that this process
// does not see. It returns true for a file that it cannot read.
func IsShellScript(path string) bool {
	if ext := strings.ToLower(filepath.Ext(path)); ext == ".cmd" || ext == ".bat" || ext == ".ps1" {
		return true
	}
	file, err := os.Open(path)
	if err != nil {
		return true
	}
	defer file.Close()
	head := make([]byte, 128)
	n, err := io.ReadFull(file, head)
	if err != nil && n == 0 {
		return true
	}
	line, _, _ := bytes.Cut(head[:n], []byte("\n"))
	return shells().Match(line)
}
