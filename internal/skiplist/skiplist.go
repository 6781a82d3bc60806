// Package skiplist reads lists of backends that are turned off, such as the value of SKIP_CLI. What is written there by
// mistake turns off all that it may have meant: a backend that runs in spite of the list may cost money. It knows no
// CLI by name but those it is told of.
package skiplist

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/clichain/clichain/internal/spelling"
)

var (
	allWords  = []string{"1", "true", "yes", "on", "all"}
	noneWords = []string{"0", "false", "no", "off", "none"}
)

// known are the names of the backends in this process, in lower case, each with the other names of the backend that has
// it as its own. They decide whether a word is a mistake, and which names turn off a backend.
var known struct {
	sync.RWMutex
	others map[string][]string
	later  []func() [][]string // sources of names that have not been asked for yet
}

// Know adds a backend: its own name, and others by which a list can turn it off; empty ones are ignored. It is safe for
// concurrent use.
func Know(name string, others ...string) {
	known.Lock()
	defer known.Unlock()
	know(name, others)
}

func know(name string, others []string) {
	if known.others == nil {
		known.others = map[string][]string{}
	}
	name = strings.ToLower(name)
	for _, word := range slices.Concat([]string{name}, others) {
		if word = strings.ToLower(word); word == "" {
			continue
		}
		if _, ok := known.others[word]; !ok {
			known.others[word] = nil
		}
		if word != name && !slices.Contains(known.others[name], word) {
			known.others[name] = append(known.others[name], word)
		}
	}
}

// KnowLater is Know for names that take a moment to tell, each list with a backend's own name first: they are asked
// for, once, when it matters what a word in a list means. It is safe for concurrent use; the source must not call this
// package.
func KnowLater(source func() [][]string) {
	known.Lock()
	defer known.Unlock()
	known.later = append(known.later, source)
}

// learn asks for the names that have not been asked for yet.
func learn() {
	known.Lock()
	defer known.Unlock()
	for _, source := range known.later {
		for _, names := range source() {
			know(names[0], names[1:])
		}
	}
	known.later = nil
}

// OffNamed is Off for the backends that have this name as their own, with all their names. A name that no backend has
// stands for itself.
func OffNamed(list, name string) (off bool, doubt string) {
	if list == "" {
		return false, ""
	}
	learn()
	known.RLock()
	names := append(slices.Clone(known.others[strings.ToLower(name)]), name)
	known.RUnlock()
	return Off(list, names...)
}

// Off reports whether the list turns off the backend that has these names; no name asks for all backends. doubt is
// empty, or says by which word it does so although that may not have been meant.
func Off(list string, names ...string) (off bool, doubt string) {
	if list == "" { // nearly always, and asked before each call
		return false, ""
	}
	words := wordsOf(list)
	for _, word := range words {
		switch {
		case isName(word, names), len(words) == 1 && slices.Contains(allWords, word):
			return true, ""
		case doubt == "" && mayMean(word, names):
			doubt = why(word)
		}
	}
	return doubt != "", doubt
}

// Doubts says of each word that is a mistake what it turns off.
func Doubts(list string) (doubts []string) {
	words := wordsOf(list)
	for _, word := range words {
		switch {
		case len(words) == 1 && (slices.Contains(allWords, word) || slices.Contains(noneWords, word)), isKnown(word):
		case mayMeanAll(word):
			doubts = append(doubts, why(word)+": all are turned off")
		default:
			doubts = append(doubts, why(word)+": "+meant(word)+" turned off")
		}
	}
	return doubts
}

// separators stand between words, and around them: some programs pass on the quotes of a file of variables.
const separators = ",; \t\r\n\"'`“”‘’"

func wordsOf(list string) []string {
	return strings.FieldsFunc(strings.ToLower(list), func(r rune) bool { return strings.ContainsRune(separators, r) })
}

// why is what is wrong with a word.
func why(word string) string {
	if slices.Contains(allWords, word) || slices.Contains(noneWords, word) {
		return fmt.Sprintf("%q stands among names", word)
	}
	return fmt.Sprintf("%q is the name of no backend", word)
}

// mayMean reports whether a word may have meant one of the names, or all backends.
func mayMean(word string, names []string) bool {
	return mayMeanAll(word) || !isKnown(word) && !slices.Contains(noneWords, word) &&
		slices.ContainsFunc(names, func(name string) bool { return near(word, strings.ToLower(name)) })
}

func mayMeanAll(word string) bool {
	if isKnown(word) || slices.Contains(noneWords, word) {
		return false
	}
	n, err := strconv.Atoi(word)
	return err == nil && n != 0 || slices.ContainsFunc(allWords, func(all string) bool { return near(word, all) })
}

// meant names what a word that is no name may have meant.
func meant(word string) string {
	learn()
	var names []string
	for _, name := range allKnown() {
		if mayMean(word, []string{name}) {
			names = append(names, name)
		}
	}
	switch slices.Sort(names); len(names) {
	case 0:
		return "nothing is"
	case 1:
		return names[0] + " is"
	}
	return strings.Join(names, ", ") + " are"
}

// near reports whether a word may stand for a name: it is its beginning, begins with it, or is spelt like it. A "*"
// that closes it changes nothing.
func near(word, name string) bool {
	word = strings.TrimRight(word, "*")
	return name != "" && (strings.HasPrefix(name, word) || len(name) > 3 && strings.HasPrefix(word, name) ||
		spelling.Near(word, []string{name}) != "")
}

func isName(word string, names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return word == strings.ToLower(name) })
}

func isKnown(word string) bool {
	learn()
	known.RLock()
	defer known.RUnlock()
	_, ok := known.others[word]
	return ok
}

func allKnown() []string {
	known.RLock()
	defer known.RUnlock()
	return slices.Collect(maps.Keys(known.others))
}
