"""Libraries for tests: those that run them, and those that make mocks, stubs and fakes."""

import re

from groundwire_ingest.frameworks.framework import Framework
from groundwire_ingest.tree.names.conventions import NameConventions

RUNNERS = Framework(
    test_modules="""xunit nunit microsoft.visualstudio.testtools fluentassertions shouldly unittest nose vitest
    @jest/globals jest mocha chai @playwright/test cypress supertest org.junit junit org.testng testing
    github.com/stretchr/testify phpunit kotlin.test io.kotest @testing-library/react""",
    test_packages=re.compile(r"Microsoft\.NET\.Test\.Sdk|xunit\b|NUnit\b|MSTest\b", re.IGNORECASE),
)

DOUBLES = Framework(
    test_modules="moq nsubstitute org.mockito go.uber.org/mock github.com/golang/mock",
    names=NameConventions(
        doubles=re.compile(
            r"org\.mockito|org\.easymock|org\.springframework\.(?:boot\.)?test\.\w*\.?(?:bean|mock)|io\.mockk|Moq"
            r"|NSubstitute|FakeItEasy|unittest\.mock|mock$|go\.uber\.org/mock"
            r"|github\.com/(?:golang/mock|stretchr/testify/mock)"
        )
    ),
)
