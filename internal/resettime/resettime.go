// Package resettime parses the time at which a limit ends from the messages of services. It knows phrases, but no CLI
// and no event, and uses only the clock time that it receives.
package resettime

import (
	"regexp"
	"strings"
	"sync"
	"time"
)

// Longest is the maximum time until a limit ends. The limits that CLIs report end after at most a week, so a later time
// is a mistake.
const Longest = 8 * 24 * time.Hour

// maxResetWords is the maximum length of text to search for a time, in bytes.
const maxResetWords = 4 << 10

// Read returns the time at which a limit ends according to the text of a service. Other text may surround the time:
// "…reached|1762952400", "resets 2pm (Asia/Shanghai)", "try again in 2 days 17 hours", "will reset after 5h12m3s". A
// time without a zone is in the zone of now. The result is between now and now + Longest, or the zero time if the text
// contains no time.
func Read(words string, now time.Time) time.Time {
	words = plainSpaces.Replace(words[:min(len(words), maxResetWords)])
	for _, p := range phrasesOf(words) {
		for _, read := range resetReaders {
			if t, ok := read(p, now); ok {
				return Clamp(t, now)
			}
		}
	}
	return time.Time{}
}

// resetReaders try in order to parse the start of a phrase. No text matches two of them.
var resetReaders = []func(phrase, time.Time) (time.Time, bool){readEpoch, readSpan, readMoment, readCount}

// Wall returns a time in UTC without its monotonic reading, which cannot be stored and hides changes of the clock. It
// equals its copy from JSON.
func Wall(t time.Time) time.Time { return t.Round(0).UTC() }

// Clamp moves a time into the range of [Read], now to now + Longest, and into the zone of now.
func Clamp(t, now time.Time) time.Time {
	switch latest := now.Add(Longest); {
	case t.Before(now):
		return now
	case t.After(latest):
		return latest
	}
	return t.In(now.Location())
}

// plainSpaces replaces the minus sign and the narrow spaces that JavaScript writes before "PM".
var plainSpaces = strings.NewReplacer("\u202f", " ", "\u00a0", " ", "\u2009", " ", "\u2212", "-")

// phrase is a position in the text at which a time may begin.
type phrase struct {
	lead string // text before the time, such as "resets at "
	rest string
}

const (
	// Heads matches the words that announce a time.
	Heads = `(?:reset(?:s|ting)?|retry(?:ing)?|tr(?:y|ying) again|come back|available|renew(?:s|al)?|refresh(?:es)?|` +
		`refills?|regain(?:s|ed)? access|replenish(?:es)?|expires?|ends?|lifted|wait|until|\|)`
	// Glue matches the text between a head and the time: prepositions, quotes, and the rest of names such as
	// "resets_in_seconds" and "retryDelay".
	Glue = `(?:[\s_:=|"'\x60’\\*~≈<≤(\[]+|-\s|-?(?:(?:at|in|on|after|by|for|until|from|again|within|around|about|` +
		`approx(?:imately)?|roughly|less than|under|daily|every day|the|next|this|is)(?:\b\.?|_|seconds|ms)|` +
		`pt|time|stamp|date|delay|requests|tokens|seconds|secs|milliseconds|millis|ms|minutes))*`
	// Start matches the beginning of a time.
	Start = `(?:\d|an? (?:min|hour|day|week)|one |half |to(?:day|morrow|night)\b|noon\b|midnight\b|` +
		monthNames + `|` + dayNames + `)`
)

var (
	leads = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)` + Heads + Glue) })
	glue  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)^` + Glue) })
)

// phrasesOf returns the start of the text, then every position after a head.
func phrasesOf(words string) []phrase {
	start := len(glue().FindString(words))
	phrases := []phrase{{words[:start], words[start:]}}
	for _, m := range leads().FindAllStringIndex(words, -1) {
		phrases = append(phrases, phrase{words[m[0]:m[1]], words[m[1]:]})
	}
	return phrases
}

// severs reports whether position i is a valid cut of the text, outside words and numbers.
func severs(text string, i int) bool {
	if i == 0 || i >= len(text) {
		return true
	}
	a, b := text[i-1], text[i]
	return !(isDigit(a) && isDigit(b) || isLetter(a) && isLetter(b))
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' }
