//go:build race

package prose_test

const underRace = true
