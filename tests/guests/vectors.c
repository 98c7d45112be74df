/* SSE2 by its intrinsics: packed integers, shuffles, comparisons, saturation, shifts, conversions, packed and scalar floats. */
#include <emmintrin.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static uint64_t fold = 1469598103934665603u;
static void mix(uint64_t value) { fold = (fold ^ value) * 1099511628211u; }
static void mix_vector(__m128i v) { uint64_t parts[2]; memcpy(parts, &v, 16); mix(parts[0]); mix(parts[1]); }

static uint64_t state = 88172645463325252u;
static uint64_t next(void) { state ^= state << 13; state ^= state >> 7; return state ^= state << 17; }
static __m128i random_vector(int kind)
{
    uint64_t a = next(), b = next();
    if (kind == 1) a &= 0x80ff7f0180ff7f01, b |= 0x7f807f807f807f80;
    if (kind == 2) a &= 0x00000000ffff0000, b = a;
    return _mm_set_epi64x((long long)a, (long long)b);
}

#define INTEGER(f) mix_vector(f(a, b))
static void integers(void)
{
    for (int i = 0; i < 3000; i++) {
        __m128i a = random_vector(i % 3), b = random_vector(i % 4);
        INTEGER(_mm_add_epi8); INTEGER(_mm_add_epi16); INTEGER(_mm_add_epi32); INTEGER(_mm_add_epi64); INTEGER(_mm_sub_epi8); INTEGER(_mm_sub_epi16);
        INTEGER(_mm_sub_epi32); INTEGER(_mm_sub_epi64); INTEGER(_mm_adds_epi8); INTEGER(_mm_adds_epi16); INTEGER(_mm_adds_epu8); INTEGER(_mm_adds_epu16);
        INTEGER(_mm_subs_epi8); INTEGER(_mm_subs_epi16); INTEGER(_mm_subs_epu8); INTEGER(_mm_subs_epu16); INTEGER(_mm_mullo_epi16); INTEGER(_mm_mulhi_epi16);
        INTEGER(_mm_mulhi_epu16); INTEGER(_mm_mul_epu32); INTEGER(_mm_madd_epi16); INTEGER(_mm_sad_epu8); INTEGER(_mm_avg_epu8); INTEGER(_mm_avg_epu16);
        INTEGER(_mm_max_epi16); INTEGER(_mm_max_epu8); INTEGER(_mm_min_epi16); INTEGER(_mm_min_epu8); INTEGER(_mm_and_si128); INTEGER(_mm_andnot_si128);
        INTEGER(_mm_or_si128); INTEGER(_mm_xor_si128); INTEGER(_mm_cmpeq_epi8); INTEGER(_mm_cmpeq_epi16); INTEGER(_mm_cmpeq_epi32); INTEGER(_mm_cmpgt_epi8);
        INTEGER(_mm_cmpgt_epi16); INTEGER(_mm_cmpgt_epi32); INTEGER(_mm_packs_epi16); INTEGER(_mm_packs_epi32); INTEGER(_mm_packus_epi16);
        INTEGER(_mm_unpackhi_epi8); INTEGER(_mm_unpackhi_epi16); INTEGER(_mm_unpackhi_epi32); INTEGER(_mm_unpackhi_epi64); INTEGER(_mm_unpacklo_epi8);
        INTEGER(_mm_unpacklo_epi16); INTEGER(_mm_unpacklo_epi32); INTEGER(_mm_unpacklo_epi64);
        __m128i count = _mm_set_epi64x(0, i % 70);
        mix_vector(_mm_sll_epi16(a, count)); mix_vector(_mm_sll_epi32(a, count)); mix_vector(_mm_sll_epi64(a, count)); mix_vector(_mm_srl_epi16(a, count));
        mix_vector(_mm_srl_epi32(a, count)); mix_vector(_mm_srl_epi64(a, count)); mix_vector(_mm_sra_epi16(a, count)); mix_vector(_mm_sra_epi32(a, count));
        mix_vector(_mm_slli_epi16(a, 5)); mix_vector(_mm_srai_epi32(a, 9)); mix_vector(_mm_srli_epi64(a, 33)); mix_vector(_mm_slli_si128(a, 3));
        mix_vector(_mm_srli_si128(a, 11)); mix_vector(_mm_shuffle_epi32(a, 0x1b)); mix_vector(_mm_shufflelo_epi16(a, 0x93)); mix_vector(_mm_shufflehi_epi16(b, 0x4e));
        mix(_mm_movemask_epi8(a)); mix(_mm_extract_epi16(a, 5)); mix_vector(_mm_insert_epi16(a, i, 3)); mix(_mm_cvtsi128_si64(a)); mix(_mm_cvtsi128_si32(b));
        mix_vector(_mm_move_epi64(a));
        char bytes[64];
        memset(bytes, i, sizeof bytes);
        _mm_storeu_si128((__m128i *)(bytes + i % 40), a);
        _mm_maskmoveu_si128(a, b, bytes + 13);
        _mm_storel_epi64((__m128i *)(bytes + 5), b);
        for (int k = 0; k < 64; k += 8) { uint64_t part; memcpy(&part, bytes + k, 8); mix(part); }
    }
    printf("integers %016lx\n", fold);
}

static double number(void) { int64_t n = (int64_t)next(); return n % 3 == 0 ? (double)(n % 1000) : n % 3 == 1 ? (double)n / 3e15 : 1.0 / (double)(n | 1); }

static void floats(void)
{
    for (int i = 0; i < 3000; i++) {
        __m128d a = _mm_set_pd(number(), number()), b = _mm_set_pd(number(), number());
        __m128 x = _mm_set_ps((float)number(), (float)number(), (float)number(), (float)number()), y = _mm_set_ps((float)number(), (float)number(), 2, (float)number());
#define D(e) mix_vector(_mm_castpd_si128(e))
#define S(e) mix_vector(_mm_castps_si128(e))
        D(_mm_add_pd(a, b)); D(_mm_sub_pd(a, b)); D(_mm_mul_pd(a, b)); D(_mm_min_pd(a, b)); D(_mm_max_pd(a, b)); D(_mm_add_sd(a, b)); D(_mm_mul_sd(a, b));
        D(_mm_sqrt_pd(_mm_mul_pd(a, a))); D(_mm_and_pd(a, b)); D(_mm_andnot_pd(a, b)); D(_mm_or_pd(a, b)); D(_mm_xor_pd(a, b)); D(_mm_cmplt_pd(a, b));
        D(_mm_cmple_sd(a, b)); D(_mm_cmpunord_pd(a, b)); D(_mm_cmpneq_pd(a, b)); D(_mm_unpackhi_pd(a, b)); D(_mm_unpacklo_pd(a, b)); D(_mm_shuffle_pd(a, b, 1));
        S(_mm_add_ps(x, y)); S(_mm_sub_ps(x, y)); S(_mm_mul_ps(x, y)); S(_mm_min_ps(x, y)); S(_mm_max_ss(x, y)); S(_mm_sqrt_ps(_mm_mul_ps(x, x)));
        S(_mm_cmplt_ps(x, y)); S(_mm_cmpge_ss(x, y)); S(_mm_cmpord_ps(x, y)); S(_mm_unpackhi_ps(x, y)); S(_mm_unpacklo_ps(x, y)); S(_mm_shuffle_ps(x, y, 0x2d));
        S(_mm_movehl_ps(x, y)); S(_mm_movelh_ps(x, y)); S(_mm_div_ps(x, _mm_add_ps(_mm_mul_ps(y, y), _mm_set1_ps(1)))); D(_mm_div_pd(a, _mm_add_pd(_mm_mul_pd(b, b), _mm_set1_pd(1))));
        D(_mm_cvtps_pd(x)); S(_mm_cvtpd_ps(a)); mix_vector(_mm_cvtps_epi32(x)); mix_vector(_mm_cvttps_epi32(x)); mix_vector(_mm_cvtpd_epi32(a)); mix_vector(_mm_cvttpd_epi32(a));
        D(_mm_cvtepi32_pd(_mm_set1_epi32(i * 77777))); S(_mm_cvtepi32_ps(_mm_set1_epi32(i * 777777))); mix(_mm_cvtsd_si64(a)); mix(_mm_cvttsd_si32(b)); mix(_mm_cvtss_si32(x));
        mix(_mm_movemask_pd(a)); mix(_mm_movemask_ps(x)); mix(_mm_comilt_sd(a, b)); mix(_mm_ucomigt_ss(x, y)); mix(_mm_comieq_sd(a, a));
        D(_mm_loadh_pd(a, (double *)&b)); D(_mm_loadl_pd(a, (double *)&b)); S(_mm_cvtsd_ss(x, a)); D(_mm_cvtss_sd(a, x)); D(_mm_cvtsi64_sd(a, i * 1234567891011)); S(_mm_cvtsi32_ss(x, i));
    }
    printf("floats %016lx\n", fold);
}

int main(void)
{
    integers();
    floats();
    return 0;
}
