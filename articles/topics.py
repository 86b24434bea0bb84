"""Tags for articles whose feed gives none: a small dictionary of topics, matched on the title and on the site's host."""

import re
import unicodedata

MOST = 4  # more than that says nothing about a title

# Tag: the words that stand for it, lower case, in English and Japanese. A "+" at the end of a Latin word allows more letters.
WORDS = {
    "accessibility": ["accessibility", "a11y", "wcag", "screen reader", "アクセシビリティ"],
    "ai": [
        "ai",
        "llm",
        "llms",
        "gpt",
        "chatgpt",
        "claude",
        "gemini",
        "copilot",
        "machine learning",
        "生成ai",
        "機械学習",
        "エージェント",
    ],
    "android": ["android"],
    "api": ["api", "apis", "graphql", "grpc", "openapi"],
    "architecture": ["architecture", "microservices", "monolith", "アーキテクチャ", "マイクロサービス", "モノリス", "設計"],
    "aws": ["aws", "ec2", "s3", "dynamodb", "aurora"],
    "c++": ["c++", "c++20", "c++23", "c++26"],
    "career": ["career", "hiring", "interviews", "burnout", "キャリア", "採用", "転職"],
    "cloud": ["cloud", "serverless", "azure", "gcp", "cloudflare", "クラウド", "サーバーレス"],
    "compilers": ["compiler", "compilers", "llvm", "gcc", "jit", "コンパイラ"],
    "css": ["css", "tailwind", "flexbox"],
    "databases": ["database", "databases", "sql", "nosql", "データベース", "インデックス", "トランザクション", "実行計画"],
    "devops": ["devops", "ci", "ci/cd", "github actions", "terraform", "ansible", "sre", "運用", "監視", "バックアップ"],
    "distributed": ["distributed", "raft", "paxos", "kafka", "consensus", "分散"],
    "docker": ["docker", "podman", "container", "containers", "コンテナ"],
    "dotnet": [".net", "dotnet", "c#", "f#"],
    "elixir": ["elixir", "erlang"],
    "git": ["git", "github", "gitlab"],
    "go": ["golang", "go 1+", "goroutine", "goroutines", "go言語"],
    "hardware": ["cpu", "gpu", "arm64", "risc-v", "raspberry pi", "半導体"],
    "haskell": ["haskell", "ghc"],
    "ios": ["ios", "iphone", "swiftui"],
    "java": ["java", "jvm", "spring boot", "openjdk"],
    "javascript": ["javascript", "ecmascript", "node.js", "nodejs", "deno", "bun", "npm"],
    "kotlin": ["kotlin"],
    "kubernetes": ["kubernetes", "k8s", "helm"],
    "linux": ["linux", "debian", "ubuntu", "fedora", "systemd", "ebpf"],
    "mobile": ["flutter", "react native", "モバイル"],
    "mysql": ["mysql", "mariadb"],
    "networking": ["tcp", "quic", "dns", "http/3", "ipv6", "wireguard", "ネットワーク"],
    "observability": ["observability", "opentelemetry", "tracing", "prometheus", "grafana", "オブザーバビリティ"],
    "opensource": ["open source", "open-source", "maintainer", "maintainers", "オープンソース", "oss"],
    "performance": ["performance", "latency", "profiling", "benchmark", "benchmarks", "faster", "高速化", "パフォーマンス"],
    "php": ["php", "laravel", "symfony"],
    "postgres": ["postgres", "postgresql", "pgvector"],
    "privacy": ["privacy", "gdpr", "プライバシー", "個人情報"],
    "python": ["python", "django", "flask", "fastapi", "pypi", "numpy", "pandas"],
    "react": ["react", "next.js", "nextjs"],
    "redis": ["redis", "valkey"],
    "ruby": ["ruby", "rails", "rubygems"],
    "rust": ["rust", "cargo", "rustc", "tokio"],
    "security": [
        "security",
        "vulnerability",
        "vulnerabilities",
        "cve",
        "cve-+",
        "exploit",
        "malware",
        "oauth",
        "passkey",
        "passkeys",
        "脆弱性",
        "セキュリティ",
        "認証",
        "不正アクセス",
    ],
    "sqlite": ["sqlite"],
    "swift": ["swift"],
    "testing": ["testing", "tests", "unit test", "playwright", "pytest", "fuzzing", "テスト"],
    "typescript": ["typescript", "tsc"],
    "ux": ["ux", "usability", "ユーザビリティ"],
    "vim": ["vim", "neovim", "emacs"],
    "vue": ["vue", "nuxt"],
    "wasm": ["wasm", "webassembly"],
    "web": ["html", "browser", "browsers", "chrome", "firefox", "safari", "web components", "ブラウザ", "フロントエンド"],
    "zig": ["zig"],
}
# Host, subdomains included: what everything there is about.
HOSTS = {
    "blog.rust-lang.org": ["rust"],
    "developer.apple.com": ["apple"],
    "djangoproject.com": ["python", "django"],
    "go.dev": ["go"],
    "kubernetes.io": ["kubernetes"],
    "lwn.net": ["linux"],
    "nodejs.org": ["javascript"],
    "planet.postgresql.org": ["postgres"],
    "postgresql.org": ["postgres"],
    "python.org": ["python"],
    "react.dev": ["react"],
    "ruby-lang.org": ["ruby"],
    "sqlite.org": ["sqlite"],
    "swift.org": ["swift"],
    "webkit.org": ["web"],
}


def topics(title: str, host: str) -> list[str]:
    """The topics that a title names and a host stands for, at most four."""
    folded = unicodedata.normalize("NFKC", title).lower()
    found = [tag for name, tags in HOSTS.items() if host == name or host.endswith(f".{name}") for tag in tags]
    found += [TAG_OF[match.lastgroup] for match in PATTERN.finditer(folded) if match.lastgroup]
    return list(dict.fromkeys(found))[:MOST]


def pattern_of(word: str) -> str:
    """Latin words stand alone; Japanese ones stand where they stand."""
    if not word.isascii():
        return re.escape(word)
    body, end = (
        (re.escape(word[:-1]), "") if word.endswith("+") and not word.endswith("++") else (re.escape(word), "(?![a-z0-9])")
    )
    return f"(?<![a-z0-9]){body}{end}"


TAG_OF = {f"topic{number}": tag for number, tag in enumerate(WORDS)}
PATTERN = re.compile("|".join(f"(?P<{name}>{'|'.join(map(pattern_of, WORDS[tag]))})" for name, tag in TAG_OF.items()))
