//! The amount of an agent's memory that a text takes.

/// The number of bytes counted at once.
const PIECE: usize = 240;

/// The average number of letters in a token, for words longer than that.
const LETTERS: usize = 6;

/// Estimates how many tokens a language model needs for `text`.
///
/// No tokenizer is part of this program: their vocabularies weigh megabytes, and each model has its own. The estimate
/// counts one token for every six letters of a word or part thereof, one for each digit, each character beyond ASCII
/// and each run of line ends, one for two other visible characters, and four for five characters between U+3000 and
/// U+DFFF: Chinese, Japanese and Korean ones.
///
/// Against the tokenizer of Claude 2 (the one that was published with its vocabulary), on the bodies of 295 real skills
/// with 495,000 tokens: 1 % too few in total. Of the 261 bodies with more than 200 tokens the estimate is 2 % too low
/// at the median, between 12 % too low and 8 % too high for nine of ten, and never more than 17 % off. A quarter of the
/// characters, the usual rule of thumb, is up to 28 % off on the same texts.
///
/// Against those of `OpenAI`'s models (`cl100k_base` and `o200k_base`), on the same skills as a whole: 10 % too many in
/// total, between 7 % too low and 25 % too high for each with more than 200 tokens, and for 96 of 100 skills of 47 other
/// repositories; nine of ten other English skills
/// and catalogs are within 15 %. Sentences in 21 other languages are further off: from 35 % too low in Tamil to nearly
/// four times too high in Russian. Use [`most`] for a limit that must not be exceeded.
pub fn estimate(text: &str) -> usize {
    let (mut tokens, mut marks, mut fifths, mut word) = (0, 0, 0, 0);
    let mut previous = b' ';
    for &byte in text.as_bytes() {
        if byte.is_ascii_alphabetic() {
            tokens += usize::from(word % LETTERS == 0);
            word += 1;
        } else {
            word = 0;
            match byte {
                b'\n' => tokens += usize::from(previous != b'\n'),
                0xe3..=0xed => fifths += 4,
                // Bytes from 0xc0 on start a character, lower ones continue it.
                b'0'..=b'9' | 0xc0.. => tokens += 1,
                byte if byte.is_ascii_graphic() => marks += 1,
                _ => {}
            }
        }
        // Neither CRLF nor blanks at line ends add another line end.
        if !matches!(byte, b'\r' | b' ' | b'\t') {
            previous = byte;
        }
    }
    tokens + usize::div_ceil(marks, 2) + usize::div_ceil(fifths, 5)
}

/// Returns the maximum number of tokens in `text`, in nearly all cases: a text within a budget by this count is within
/// the budget.
///
/// It counts one token for every five letters of a word or part thereof, one for each digit and each run of line ends,
/// two for three other visible characters, seven for six characters of two bytes, three for two of three bytes and
/// three for each of four. Of 336 real skills and 975 catalogs made of them, in all forms, and of catalogs with
/// descriptions in 21 other languages, none has more for `cl100k_base` or `o200k_base`; the English catalogs have a
/// fifth less at the median. A single sentence may have up to a quarter more, as in Indonesian, Italian or Hebrew.
pub fn most(text: &str) -> usize {
    usize::div_ceil(most_in_sixths(text), 6)
}

/// Returns the count of [`most`] in sixths of a token, before it is rounded up: the parts of a text together have at
/// least as many as the whole.
pub fn most_in_sixths(text: &str) -> usize {
    const LETTERS: usize = 5;
    let (mut sixths, mut word) = (0, 0);
    let mut previous = b' ';
    for &byte in text.as_bytes() {
        if byte.is_ascii_alphabetic() {
            sixths += if word % LETTERS == 0 { 6 } else { 0 };
            word += 1;
        } else {
            word = 0;
            sixths += match byte {
                b'\n' if previous == b'\n' => 0,
                b'\n' | b'0'..=b'9' => 6,
                // The first byte of a character determines how many follow.
                0xf0.. => 18,
                0xe0.. => 9,
                0xc0.. => 7,
                byte if byte.is_ascii_graphic() => 4,
                _ => 0,
            };
        }
        if !matches!(byte, b'\r' | b' ' | b'\t') {
            previous = byte;
        }
    }
    sixths
}

/// Returns a number that [`at_most`] does not exceed, in a fraction of its time: every byte that is neither a letter
/// nor a blank counts as a token.
pub fn quickly_at_most(text: &str) -> usize {
    let bytes = text.as_bytes();
    let Some((first, after)) = bytes.split_first() else { return 0 };
    let (mut letters, mut words, mut blanks) = (0, usize::from(first.is_ascii_alphabetic()), 0);
    for (piece, before) in after.chunks(PIECE).zip(bytes.chunks(PIECE)) {
        let (mut of_letters, mut of_words, mut of_blanks) = (0_u8, 0_u8, 0_u8);
        for (byte, before) in piece.iter().zip(before) {
            let letter = byte.is_ascii_alphabetic();
            of_letters += u8::from(letter);
            of_words += u8::from(letter & !before.is_ascii_alphabetic());
            of_blanks += u8::from(*byte == b' ');
        }
        letters += usize::from(of_letters);
        words += usize::from(of_words);
        blanks += usize::from(of_blanks);
    }
    // The value of the first byte does not matter: it counts as another token.
    words + (letters + 1 - words) / LETTERS + (after.len() - letters - blanks) + 1
}

/// Returns a number that [`estimate`] does not exceed but comes close to, in a fraction of its time.
///
/// It counts letters and starts of words rather than words, which needs no state from one byte to the next, so that
/// many bytes are processed at once.
pub fn at_most(text: &str) -> usize {
    let bytes = text.as_bytes();
    let Some((first, after)) = bytes.split_first() else { return 0 };
    // The first byte may be a token by itself.
    let (mut letters, mut words, mut ones, mut marks) = (0, usize::from(first.is_ascii_alphabetic()), 1, 0);
    for (piece, before) in after.chunks(PIECE).zip(bytes.chunks(PIECE)) {
        // Small counters are faster, and a piece fits into them.
        let (mut of_letters, mut of_words, mut of_ones, mut of_marks) = (0_u8, 0_u8, 0_u8, 0_u8);
        for (byte, before) in piece.iter().zip(before) {
            let letter = byte.is_ascii_alphabetic();
            of_letters += u8::from(letter);
            of_words += u8::from(letter & !before.is_ascii_alphabetic());
            of_ones += u8::from(byte.is_ascii_digit() || *byte >= 0xc0 || *byte == b'\n');
            of_marks += u8::from(byte.is_ascii_punctuation());
        }
        letters += usize::from(of_letters);
        words += usize::from(of_words);
        ones += usize::from(of_ones);
        marks += usize::from(of_marks);
    }
    letters += usize::from(first.is_ascii_alphabetic());
    // A word's first letters are a token, and so are each further six.
    words + (letters - words) / LETTERS + ones + usize::div_ceil(marks, 2)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn words_digits_marks_and_line_ends() {
        for (text, tokens) in [
            ("", 0),
            ("a", 1),
            ("letter", 1),
            ("letters", 2),
            ("two words", 2),
            ("2026", 4),
            ("- a\n- b\n", 5),
            ("a\r\n\r\nb", 3),
            ("日本", 2),
        ] {
            assert_eq!(estimate(text), tokens, "{text:?}");
        }
    }

    /// Names and descriptions in the form in which agents get them.
    fn catalog_of(descriptions: &[String]) -> String {
        let skills = descriptions.iter().enumerate().map(|(at, text)| {
            format!(
                "  <skill>\n    <name>skill-name-{at}</name>\n    <description>{text}</description>\n    \
                 <location>/home/user/project/.agents/skills/skill-name-{at}/SKILL.md</location>\n  </skill>\n"
            )
        });
        format!("<available_skills>\n{}</available_skills>\n", skills.collect::<String>())
    }

    /// Texts that are no English, in the scripts that people write skills in.
    const OTHERS: [&str; 22] = [
        "用于处理PDF文件的技能：提取文本、表格和图片，合并与拆分文档，填写表单。当用户提到PDF或需要从文档中提取内容时使用。",
        "数据清洗、可视化与统计建模流程助手，涵盖缺失值处理、异常检测、特征工程以及报告撰写。",
        "ドキュメントを要約し、日本語のメールを作成するためのスキルです。PDFやExcelの処理にも対応します。",
        "한국어 문서를 요약하고 번역하는 스킬입니다. 사용자가 문서 처리를 요청할 때 사용하세요.",
        "Навык для обработки документов: извлечение текста и таблиц, объединение файлов, заполнение форм.",
        "مهارة لمعالجة ملفات PDF واستخراج النصوص والجداول ودمج المستندات عند طلب المستخدم.",
        "पीडीएफ फ़ाइलों से पाठ और तालिकाएँ निकालने का कौशल",
        "Δεξιότητα για επεξεργασία εγγράφων και εξαγωγή κειμένου",
        "Fähigkeit zur Verarbeitung von Dokumenten und Überprüfung großer Änderungen für Geschäftsprozesse",
        "Extrait le texte et les tableaux des fichiers PDF, fusionne des documents et remplit des formulaires à la demande.",
        "Extrae texto y tablas de archivos PDF, combina documentos y rellena formularios cuando el usuario lo pide.",
        "Extrai texto e tabelas de arquivos PDF, junta documentos e preenche formulários quando o usuário pedir.",
        "Estrae testo e tabelle dai file PDF, unisce documenti e compila moduli quando l'utente lo richiede.",
        "Wyodrębnia tekst i tabele z plików PDF, łączy dokumenty i wypełnia formularze na życzenie użytkownika.",
        "PDF dosyalarından metin ve tablo çıkarır, belgeleri birleştirir ve kullanıcı istediğinde formları doldurur.",
        "Trích xuất văn bản và bảng từ tệp PDF, ghép tài liệu và điền biểu mẫu khi người dùng yêu cầu.",
        "Mengambil teks dan tabel dari berkas PDF, menggabungkan dokumen, dan mengisi formulir saat pengguna memintanya.",
        "Навичка для обробки документів: вилучення тексту й таблиць, об'єднання файлів, заповнення форм.",
        "מיומנות לעיבוד קובצי PDF: חילוץ טקסט וטבלאות, מיזוג מסמכים ומילוי טפסים לפי בקשת המשתמש.",
        "ทักษะสำหรับประมวลผลไฟล์ PDF ดึงข้อความและตาราง รวมเอกสาร และกรอกแบบฟอร์มเมื่อผู้ใช้ร้องขอ",
        "পিডিএফ ফাইল থেকে পাঠ্য ও সারণি বের করা, নথি একত্র করা এবং ফর্ম পূরণ করার দক্ষতা",
        "PDF கோப்புகளிலிருந்து உரையையும் அட்டவணைகளையும் பிரித்தெடுத்து ஆவணங்களை இணைக்கும் திறன்",
    ];

    /// S3-NFR-4, conflict C28: against the tokenizers of two generations of models, with the bounds that
    /// [`estimate`] and [`most`] state.
    #[test]
    fn the_estimates_are_what_real_tokenizers_count() {
        let mut texts = vec![
            include_str!("../../../examples/skills/code-reviewer/SKILL.md").to_owned(),
            include_str!("../../../examples/skills/git-helper/SKILL.md").to_owned(),
            include_str!("../../../examples/skills/markdown-formatter/SKILL.md").to_owned(),
        ];
        skillpm_testing::real_skills(|text| texts.push(text.to_owned()));
        let description = |text: &String| {
            let line = text.lines().find_map(|line| line.strip_prefix("description:"))?.trim();
            (line.len() > 40).then(|| line.to_owned())
        };
        let descriptions: Vec<_> = texts.iter().filter_map(description).collect();
        let mut catalogs: Vec<_> = descriptions.chunks_exact(25).map(catalog_of).collect();
        catalogs.extend(descriptions.chunks(3).map(catalog_of));
        let others = OTHERS.map(|text| catalog_of(&vec![text.to_owned(); 6]));
        for tokenizer in [tiktoken_rs::cl100k_base_singleton(), tiktoken_rs::o200k_base_singleton()] {
            let start = |text: &str| text.chars().take(60).collect::<String>();
            let check = |text: &str, low: usize, high: usize| {
                let (counted, estimated) = (tokenizer.encode_ordinary(text).len(), estimate(text));
                let percent = 100 * estimated / counted;
                assert!(
                    counted < 200 || (low..=high).contains(&percent),
                    "{estimated} {counted} {}",
                    start(text)
                );
            };
            for text in &texts {
                check(text, 93, 125);
            }
            let share = |text: &str| 100 * tokenizer.encode_ordinary(text).len() / most(text);
            let mut shares: Vec<_> = catalogs.iter().map(|text| share(text)).collect();
            shares.sort_unstable();
            assert!((70..=85).contains(&shares[shares.len() / 2]), "a fifth less: {shares:?}");
            // A single sentence, in a language of whose words the tokenizer knows few.
            for text in OTHERS {
                let (counted, estimated) = (tokenizer.encode_ordinary(text).len(), estimate(text));
                let percent = 100 * estimated / counted;
                assert!(
                    (60..=400).contains(&percent) && share(text) <= 125,
                    "{percent} {} {text}",
                    share(text)
                );
            }
            let others = others.iter().map(String::as_str);
            for text in texts.iter().chain(&catalogs).map(String::as_str).chain(others) {
                let counted = tokenizer.encode_ordinary(text).len();
                assert!(counted <= most(text), "{} {counted} {}", most(text), start(text));
            }
        }
    }

    proptest! {
        #[test]
        fn parts_weigh_what_the_whole_does(a in "\\PC{0,40}", b in "\\PC{0,40}") {
            let (apart, together) = (estimate(&a) + estimate(&b), estimate(&format!("{a} {b}")));
            // Marks and wide characters are rounded up, each in both parts.
            prop_assert!(together <= apart && apart <= together + 2, "{} {}", apart, together);
            let (apart, whole) = (most(&a) + most(&b), most(&format!("{a} {b}")));
            prop_assert!(whole <= apart && apart <= whole + 1, "{} {}", apart, whole);
            prop_assert!(together <= a.chars().count() + b.chars().count() + 1);
            for between in ["", "\n"] {
                let (whole, end) = (most_in_sixths(&format!("{a}{between}{b}")), most_in_sixths(&b));
                prop_assert!(whole <= most_in_sixths(&format!("{a}{between}")) + end, "{} {}", whole, end);
            }
        }

        #[test]
        fn the_quick_count_is_never_too_low(text in "(a{0,20}|B|7|\n|\r\n| |-|\\PC|word ){0,60}", times in 1_usize..40) {
            let text = text.repeat(times);
            prop_assert!(estimate(&text) <= at_most(&text), "{} {}", estimate(&text), at_most(&text));
            prop_assert!(at_most(&text) <= quickly_at_most(&text), "{} {}", at_most(&text), quickly_at_most(&text));
        }
    }

    #[test]
    fn the_quick_count_is_near() {
        let mut all = (0, 0);
        skillpm_testing::real_skills(|text| {
            let (count, bound) = (estimate(text), at_most(text));
            assert!(count <= bound && bound <= quickly_at_most(text));
            all = (all.0 + count, all.1 + bound);
        });
        assert!(all.1 <= all.0 + all.0 / 4, "{all:?}");
    }
}
