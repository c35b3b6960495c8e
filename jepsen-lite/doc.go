// Package jepsenlite puts clusters under faults and checks that a key has at
// most one owner.
//
// A plan (package plan) says what is to happen, an arena (package virtual)
// makes it happen and writes a history (package history), checkers (package
// check) judge the history, and a report (package report) tells what they
// found. [RunPlan] does all of it for one plan.
package jepsenlite
