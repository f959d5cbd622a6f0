package cmd_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"adze/docs"
)

// promise is a line of the section "What is promised", by its first words, and the tests that hold
// it.
type promise struct{ begins, tests string }

func promises() []promise {
	return []promise{
		{"A call runs once or not at all.", "TestExecRunsOnce TestTheAnswerIsStoredBeforeItsCallsRun TestCallsWithoutOutcomeBecomeAbortedExactlyOnce " +
			"TestNoPrefixOfACallRuns TestSignalsInEveryPhase TestKilledAtAnyMoment TestTheDiskIsFullAtAnyMoment"},
		{"A conversation that outgrows its model", "TestAFullContextIsSummedUp TestALongTurnIsSummedUpAndGoesOn TestThePersonAsksForASummary " +
			"TestASummedUpSessionIsResumed TestASmallWindowIsNoEnd"},
		{"Nothing is shown, streamed or acted on", "TestEventsComeOnlyAfterTheirRecord TestNoEffectWithoutADecisionStoredBefore TestExecIntentStopsTheEffect " +
			"TestAFailingStoreStopsEffects TestTheStateGoesAwayDuringARun"},
		{"Malformed arguments are mended at most once", "TestRepairCorpus TestRepairIsFinal TestValidArgumentsAreNeverAltered TestTheOutcomeKeepsARepairBeforeAndAfter " +
			"FuzzNoise FuzzRepairBySchema TestRepairedSideEffectsAreReviewed"},
		{"The whole of a long output", "TestTheWholeOfALongOutputIsKept TestTheOutputsOfASessionAreBounded"},
		{"A command's whole process tree", "TestNothingSurvives TestEndsInTime TestKillLeavesNoProcess TestTheNextRunEndsWhatAKilledOneLeft TestForkStormEnds " +
			"TestAnAbortedCommandIsTold"},
		{"Files are reached through descriptors", "TestLinksMadeAfterResolveAreNotFollowed TestHostilePaths TestUpdateIsOldOrNewWhateverFails " +
			"TestKilledWriterLeavesOldOrNew TestStalenessOfWriteAndEdit TestReportedSlipsAreRightOrRefused TestDisturbedPatchesAreRightOrRefused"},
		{"What a model, file, command or page says", "FuzzSafe TestHostileTextIsDrawn TestNoControlByteReachesStdout TestHiddenCharactersAreShown " +
			"TestPageHasNoElementsOfOthers TestPageInABrowser"},
		{"Keys and passwords", "TestNoSecretLasts TestFragmentsHideWhatLiesAcrossThem TestNoCommandReadsTheKey FuzzMasking " +
			"TestNoFormHoldsAPlantedSecret TestASecretIsNotEditedBack TestValuesOfFilesAreKnownInOutputs TestAFileHoldsNoSecret"},
		{"What a turn did to files", "TestATurnThatWrecksARepositoryIsUndoneAndRedone TestWhatAPersonChangedSinceIsKeptAndNamed TestWhatSubagentsAndJobsDoIsUndone " +
			"TestATurnCanBeUndoneAfterAKillAtAnyMoment TestATurnCanBeUndoneAfterASignal TestAKillInTheMiddleOfACallIsNobodysChange TestACallDoesNotRunWhereNothingCanBeKept TestEveryChangeIsUndoneAndRedone TestWhatGitDoesIsUndone TestNoCommandReadsWhatUndoKeeps"},
		{"A task of a batch", "TestABatchThatIsKilledGoesOn TestABatchThatIsInterruptedGoesOn TestEachTaskHasOneResult TestAResultIsStoredOnce TestAPatchRunsNothingOfAClone " +
			"TestAWorkerThatIsKilledLosesNothing TestATaskWhoseWorkerIsKilledBeginsAnew TestServersThatAreKilledLoseNothing TestAWorkerThatStopsGivesBack"},
		{"Nothing that a project carries", "TestAProjectFullOfTrapsStartsNothing TestARepositoryOfFiveAssistantsRunsNothing TestAProjectsToolRunsOnlyAsItWasAllowed " +
			"TestShellPartsOfCommands TestACommandThatIsExchangedIsAskedAgain TestArgumentsNeverBecomeShellText TestAChangeAsksAgain " +
			"TestACommandChangesNoSettings TestAProjectMaySetOnlyWhatNarrows TestAProjectsRulesOnlyNarrow"},
		{"What adze starts by itself", "TestServersTakeNothingOfTheFolder TestAServerHasAFolderOfItsOwn TestFormattersHooksAndToolsTakeNothingOfTheFolder TestAPinnedScriptLoadsNothingBesideIt " +
			"TestCommandsTakeNothingOfTheFolder TestInterpretersTakeNothingOfTheFolder TestAHelperIsNotTakenFromTheFolder TestStartsAreListed"},
		{"A hook only narrows", "TestAHookHasASayBeforeACall TestAHookHoldsInEveryMode TestHooksFireForSubagents TestWhatAHookDoesInsteadOfAnswering " +
			"TestChangedArgumentsAreJudgedAsWhatTheyBecome"},
		{"In the mode `plan` no call changes", "TestNothingChangesInThePlanMode TestADeclaredToolDoesNotRunWhileAPlanIsMade TestAYesDoesNotOutliveTheMode " +
			"TestWhatIsAcceptedIsWhatWasShown TestThePersonDecidesOnAPlanInATerminal"},
		{"What no rule, mode or person allows does not run", "TestEveryCallPassesOneGate TestNoToolOfAnyCatalogueRunsUnasked TestRealBashRunsOnlyWhatRulesAllow TestJudgedLinesDoWhatWasRead " +
			"TestRealProgramsDoNoMoreThanTheTableSays " +
			"TestARepositoryCannotLeadGitOutOfTheWorkspaceUnasked TestHooksAreAskedForAndNotLeftOut " +
			"TestRealBashRunsNothingDenied TestDenialsWithNobodyToAsk TestFilesAreHeldBackOneByOne TestOwnFilesAreNeverWritten"},
		{"At sandbox level `full`, made by", "TestSandboxAttempts TestLevelOfEachMeans TestCommandsRunInTheSandbox TestNothingThatOtherProgramsRunIsApplied TestDelicateNamesStayInAView"},
		{"What is narrower at level `full` is told", "TestARepositoryThatIsPlantedIsPutAside TestSandboxAttempts TestDelicateNamesAndJobs TestAJobDoesNotChangeWhatASettingNames TestWhatAJobLeftIsToldAfterAKill"},
		{"adze's own settings", "TestACommandChangesNoSettings TestCommandsOfTheUserAlone TestWhatOutlivedItsAdzeIsInside TestAKilledShimLeavesNothing " +
			"TestAChangedSettingIsToldAndNotUsed TestEachFileOfTheUsersIsTheirs TestWhatIsRequiredStands TestARequiredSandboxIsNotSwitchedOff"},
		{"What an answer claims of tests", "TestWhatAnAnswerClaimsIsTold TestClaimsAreSentWhereThePersonWantsIt TestQuietAnswers " +
			"TestAnswersThatClaimTooMuch TestWhatWasDoneDecides"},
		{"A model that goes round in circles", "TestSequences TestGeneratedLoops TestEveryCircleEnds TestWorkIsLeftAlone TestAModelThatRepeatsItselfIsToldAndStopped TestALoopHasItsExitCode TestTheUsualNumberOfRequests " +
			"TestATruncatedAnswerHasItsExitCode TestAnAnswerOfNothingIsNoEnd TestACutPromptEndsTheRun"},
	}
}

// TestEveryPromiseIsHeld reads the section of the documents on them: each names tests here, and
// each of these exists. Whether they pass is their own matter.
func TestEveryPromiseIsHeld(t *testing.T) {
	section := docs.Text("promises")
	var lines []string
	for _, item := range strings.Split("\n"+section, "\n- ")[1:] {
		item, _, _ = strings.Cut(item, "\n\n")
		lines = append(lines, strings.Join(strings.Fields(item), " "))
	}
	written := testsOfTheModule(t)
	for _, line := range lines {
		held := 0
		for _, p := range promises() {
			if strings.HasPrefix(line, p.begins) {
				held++
			}
		}
		if held != 1 {
			t.Errorf("%d rows hold the promise %q", held, line)
		}
	}
	for _, p := range promises() {
		if !strings.Contains(strings.Join(lines, "\n"), p.begins) {
			t.Errorf("docs/permissions.md does not promise %q", p.begins)
		}
		for name := range strings.FieldsSeq(p.tests) {
			if !written[name] {
				t.Errorf("there is no test %s for %q", name, p.begins)
			}
		}
	}
}

// testsOfTheModule are the names of all tests and fuzz tests.
func testsOfTheModule(t *testing.T) map[string]bool {
	t.Helper()
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	found := map[string]bool{}
	err := filepath.WalkDir("../..", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		for _, m := range declared.FindAllSubmatch(source, -1) {
			found[string(m[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
