package prose

import (
	"errors"
	"fmt"
	"regexp"
	"unicode/utf8"
)

// MaxSubject is how many characters the subject of a commit has at most.
const MaxSubject = 72

var (
	subjectForm = regexp.MustCompile(`^[A-Za-z0-9./_*-]+(, [A-Za-z0-9./_*-]+)*: \S`)
	subjectEnd  = regexp.MustCompile(`[.!]$`)
	subjectVerb = regexp.MustCompile(`: (?:say|let|count|tell) `)
)

// CheckSubject returns what is wrong with the subject of a commit, which has the form "package: what changes".
func CheckSubject(subject string) error {
	switch n := utf8.RuneCountInString(subject); {
	case n > MaxSubject:
		return fmt.Errorf("%d characters: write at most %d", n, MaxSubject)
	case !subjectForm.MatchString(subject):
		return errors.New(`the form is not "package: what changes"`)
	case subjectEnd.MatchString(subject):
		return errors.New("it ends with a full stop")
	case subjectVerb.MatchString(subject):
		return errors.New("its verb names no change of the package")
	}
	return nil
}
